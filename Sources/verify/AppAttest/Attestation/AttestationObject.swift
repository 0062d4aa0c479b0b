internal import CBOR
package import Crypto

/// An attestation object as offset ranges into the bytes received.
///
/// Unknown members are ignored on both levels: iOS 18.5 to 26 can add an unsigned `cdHash`, which is not evidence.
struct AttestationObject: Sendable {
    let format: Range<Int>
    /// The members of `x5c`; how many there are is a check of the chain.
    let certificates: [Range<Int>]
    let receipt: Range<Int>?
    let authenticatorData: Range<Int>

    static let appleFormat = "apple-appattest"

    init(_ bytes: Span<UInt8>, limits: ObjectLimits) throws(Refusal) {
        guard bytes.count <= limits.attestationBytes,
            case .map(let members)? = try? CBORReader.read(bytes, in: 0..<bytes.count),
            case .text(let format)? = members.value(of: "fmt", bytes),
            case .bytes(let authenticatorData)? = members.value(of: "authData", bytes),
            case .map(let statement)? = members.value(of: "attStmt", bytes),
            case .array(let chain)? = statement.value(of: "x5c", bytes),
            !AuthenticatorData.lacksAnnouncedMap(authenticatorData, after: AttestedCredential.endOffset, bytes)
        else { throw .malformedAttestation }
        (self.format, self.authenticatorData) = (format, authenticatorData)
        var certificates: [Range<Int>] = []
        for item in chain {
            guard case .bytes(let range) = item, range.count <= limits.certificateBytes else {
                throw .malformedAttestation
            }
            certificates.append(range)
        }
        self.certificates = certificates
        switch statement.value(of: "receipt", bytes) {
        case nil:
            receipt = nil
        case .bytes(let range)? where range.count <= limits.receiptBytes:
            receipt = range
        default:
            throw .malformedAttestation
        }
    }
}

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
        guard let x = bytes.digest((start + x.lowerBound)..<(start + x.upperBound)),
            let y = bytes.digest((start + y.lowerBound)..<(start + y.upperBound)),
            KeyID(of: P256PublicKey(uncheckedX: x, y: y)) == keyID
        else { return nil }
        return P256PublicKey(x: x, y: y)
    }
}
