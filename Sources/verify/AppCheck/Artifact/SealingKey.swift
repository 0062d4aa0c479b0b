internal import AppAttest
package import Crypto

/// A key that seals artifacts. Artifacts live for years: a ring keeps every key that ever sealed one.
package struct SealingKey: SecretKey {
    package let id: SealingKeyID
    package let operatorKey: OperatorKey
    private let cipher: AESGCMKey
    private let nonceKey: HMACKey

    package init(id: SealingKeyID, secret: Secret) {
        self.id = id
        operatorKey = OperatorKey(id: id, secret: secret)
        cipher = AESGCMKey(secret.subkey("attest-worker artifact cipher v1"))
        nonceKey = HMACKey(secret.subkey("attest-worker artifact nonce v1"))
    }

    /// The same artifact seals to the same bytes: the nonce is the MAC (its first 12 bytes) of the clear part before it
    /// and the plaintext, so that two plaintexts share one only by a collision.
    package func seal(_ artifact: Artifact) -> [UInt8] {
        let plaintext = artifact.plaintext
        var clear = [Artifact.version] + artifact.keyID.bytes + id.bytes
        clear += nonceKey.code(clear.span, plaintext.span).bytes.prefix(AESGCMKey.nonceBytes)
        let nonce = clear.span.extracting(Artifact.sealingKeyIDEnd...)
        return clear + cipher.seal(plaintext.span, nonce: nonce, authenticating: clear.span)
    }

    /// - Parameter artifact: of an artifact's shape, with this key's id.
    func open(_ artifact: [UInt8]) -> Artifact? {
        let bytes = artifact.span
        let plaintext = cipher.open(
            bytes.extracting(Artifact.clearBytes...),
            nonce: bytes.extracting(Artifact.sealingKeyIDEnd..<Artifact.clearBytes),
            authenticating: bytes.extracting(..<Artifact.clearBytes)
        )
        return plaintext.flatMap { Artifact(plaintext: $0) }
    }
}

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
