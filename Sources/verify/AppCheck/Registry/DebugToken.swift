package import AppAttest
package import Crypto

/// A secret that a simulator or a CI job exchanges for tokens without an attestation. The secret is a random UUID; only
/// its hash is known here.
package struct DebugToken: Sendable, Equatable {
    package static let mostPerApp = 20
    /// The longest life of a token that is minted for one, in milliseconds.
    package static let mostLife: Int64 = 3_600_000

    /// SHA-256 of the secret in lower case.
    package var hash: Digest
    /// The token's name in events and for people; not a secret.
    package var name: String
    /// The time from which the token is refused.
    package var until: EvaluationTime

    package init(hash: Digest, name: String, until: EvaluationTime) {
        (self.hash, self.name, self.until) = (hash, name, until)
    }

    /// - Parameter secret: in upper or lower case; Apple's systems write UUIDs in upper case.
    /// - Returns: nil for a text that is not a random UUID (RFC 9562, version 4): a shorter secret could be guessed.
    package static func hash(of secret: [UInt8]) -> Digest? {
        guard let bytes = UUIDText.bytes(secret), bytes[6] >> 4 == 4, bytes[8] >> 6 == 2 else { return nil }
        // The bit makes letters small; digits and hyphens have it.
        return SHA256.hash(secret.map { $0 | 0x20 })
    }
}
