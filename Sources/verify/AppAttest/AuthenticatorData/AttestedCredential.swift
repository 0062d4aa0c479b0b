internal import Crypto

/// The attested credential data of an attestation, bytes 37 to 163 of its authenticator data.
struct AttestedCredential: Sendable {
    /// Nil for an AAGUID that is neither of App Attest's two.
    let environment: Environment?
    let credentialIDLength: UInt32
    /// The 32 bytes at the credential ID's place if its length is the only valid one.
    let credentialID: Digest
    let coseKey: Range<Int>

    /// The offset where the credential data ends and an extension map may begin.
    static let endOffset = 164

    static let development = "appattestdevelop"
    static let production = "appattest\0\0\0\0\0\0\0"

    /// - Parameter range: the authenticator data.
    /// - Returns: nil if `range` ends before the credential data does.
    init?(_ range: Range<Int>, _ bytes: Span<UInt8>) {
        let start = range.lowerBound
        guard range.count >= Self.endOffset,
            let length = bytes.bigEndian((start + 53)..<(start + 55)),
            let credentialID = bytes.digest((start + 55)..<(start + 87))
        else { return nil }
        let aaguid = (start + 37)..<(start + 53)
        environment =
            bytes.holds(Self.production, in: aaguid)
            ? .production : bytes.holds(Self.development, in: aaguid) ? .development : nil
        credentialIDLength = length
        self.credentialID = credentialID
        coseKey = (start + 87)..<(start + Self.endOffset)
    }
}
