internal import AppAttest

package typealias SealingKeyRing = SecretRing<SealingKey>

extension SecretRing<SealingKey> {
    /// Opens what any key of the ring sealed, and checks that the public key hashes to the key ID in the clear part.
    ///
    /// The caller compares app and environment with those of the request's path.
    /// - Returns: `sealing-key-unknown` where the key that it names is not listed, `no-active-key` where that key's file
    ///   is absent; `artifact-invalid` for every other artifact, whatever its fault.
    package func open(_ artifact: [UInt8]) -> Result<Artifact, Reason> {
        guard let keyID = Artifact.keyID(of: artifact), let id = Artifact.sealingKeyID(of: artifact)
        else { return .failure(.artifactInvalid) }
        guard !isAbsent(id) else { return .failure(.noActiveKey) }
        guard let key = self[id] else { return .failure(.sealingKeyUnknown) }
        guard let opened = key.open(artifact), opened.keyID == keyID else { return .failure(.artifactInvalid) }
        return .success(opened)
    }
}
