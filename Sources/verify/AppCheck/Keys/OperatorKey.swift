internal import Crypto

/// The sub-key of a sealing or challenge key that authenticates operators' commands.
package struct OperatorKey: Sendable {
    package let id: SealingKeyID
    private let codeKey: HMACKey

    init(id: SealingKeyID, secret: Secret) {
        self.id = id
        codeKey = HMACKey(secret.subkey("attest-worker operator command v1"))
    }

    /// The HMAC-SHA256 of a message.
    func code(_ message: [UInt8]) -> Digest { codeKey.code(message) }
}
