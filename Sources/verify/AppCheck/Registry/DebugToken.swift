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
        guard secret.count == 36 else { return nil }
        var text = secret
        for (index, byte) in secret.enumerated() {
            let isHyphen = hyphens.contains(index)
            if isHyphen, byte == UInt8(ascii: "-") { continue }
            guard !isHyphen else { return nil }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): continue
            case UInt8(ascii: "A")...UInt8(ascii: "F"): text[index] = byte | 0x20
            default: return nil
            }
        }
        guard text[14] == UInt8(ascii: "4"), "89ab".utf8.contains(text[19]) else { return nil }
        return SHA256.hash(text)
    }

    private static let hyphens = [8, 13, 18, 23]
}
