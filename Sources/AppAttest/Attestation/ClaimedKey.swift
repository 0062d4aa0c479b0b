package import Crypto

/// The public key that an attestation names, before anything about it is verified.
///
/// An assertion that follows its attestation in one batch is checked against this key; it counts only if that
/// attestation is accepted. A key ID is its key's digest, so a claim that passes here is the only key that the key ID
/// can have.
package enum ClaimedKey {
    private static let x = 97..<129
    private static let y = 132..<164

    /// - Returns: nil unless the object can be read and holds a point of the curve whose SHA-256 is `keyID`.
    package static func read(from object: [UInt8], keyID: KeyID) -> P256PublicKey? {
        let bytes = object.span
        guard let parsed = try? AttestationObject(bytes, limits: ObjectLimits()),
            parsed.authenticatorData.count >= y.upperBound
        else { return nil }
        let start = parsed.authenticatorData.lowerBound
        let point =
            [0x04] + object[(start + x.lowerBound)..<(start + x.upperBound)]
            + object[(start + y.lowerBound)..<(start + y.upperBound)]
        guard SHA256.hash(point) == keyID.digest else { return nil }
        return P256PublicKey(x963: point.span)
    }
}
