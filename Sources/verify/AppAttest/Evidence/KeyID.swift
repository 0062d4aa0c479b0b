package import Crypto

/// Apple's key ID: SHA-256 of the attested public key's X9.63 form.
package struct KeyID: Hashable, Sendable {
    package let digest: Digest

    package init(_ digest: Digest) { self.digest = digest }

    /// - Returns: nil unless there are exactly 32 bytes.
    package init?(_ bytes: Span<UInt8>) {
        guard let digest = Digest(bytes) else { return nil }
        self.digest = digest
    }

    package init(of key: P256PublicKey) { digest = key.digest }

    package var bytes: [UInt8] { digest.bytes }
}

extension KeyID {
    /// The key ID as Apple's API and the requests write it: standard base64.
    package var base64: String { ReportValue.base64(bytes).description }
}
