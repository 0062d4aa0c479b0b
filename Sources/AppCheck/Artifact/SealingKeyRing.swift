internal import AppAttest

package typealias SealingKeyRing = SecretRing<SealingKey>

extension SecretRing<SealingKey> {
    /// Opens what any key of the ring sealed, and checks that the public key hashes to the key ID in the clear part.
    ///
    /// The caller compares app and environment with those of the request's path.
    /// - Returns: `artifact-invalid` for every other artifact, whatever its fault; `no-active-key` where the file of
    ///   the key that it names is absent.
    package func open(_ artifact: [UInt8]) -> Result<Artifact, Reason> {
        guard let keyID = Artifact.keyID(of: artifact), let id = Artifact.sealingKeyID(of: artifact)
        else { return .failure(.artifactInvalid) }
        guard !isAbsent(id) else { return .failure(.noActiveKey) }
        guard let opened = self[id]?.open(artifact), opened.keyID == keyID else { return .failure(.artifactInvalid) }
        return .success(opened)
    }
}
