package import AppAttest
internal import Crypto

package typealias AssertionFault = ObjectFault<AssertionParts>

extension AssertionParts: CBORObject, SignedObject {
    package typealias Draft = AssertionDraft
    static var subject: FaultSubject { .assertion }
    static var authDataName: String { "authenticatorData" }
    package typealias Reason = Refusal
    package static var malformed: Refusal { .malformedAssertion }

    package static let faults: [AssertionFault] =
        AssertionFault.containerRows + AssertionFault.authDataRows + AssertionFault.signatureRows
        + AssertionFault.messageRows + AssertionFault.contentRows
}

extension AssertionFault {
    fileprivate static let authDataRows: [Self] = [
        .draft("authdata-empty", .malformedAssertion) { $0.authData.keep(0) },
        .draft("authdata-36-bytes", .malformedAssertion) { $0.authData.keep(36) },
    ]

    /// Faults of the signature's encoding, and scalars that no signature has.
    fileprivate static let signatureRows: [Self] = [
        signature("signature-empty") { _ in [] },
        signature("signature-flipped") { $0.der.flippingLastBit() },
        signature("r-flipped") { LabSignature(r: $0.r.flippingLastBit(), s: $0.s).der },
        signature("padded-r", SignatureDamage.paddedR),
        signature("padded-s", SignatureDamage.paddedS),
        signature("negative-r", SignatureDamage.negativeR),
        // 30 81 ll where ll is below 80.
        signature("long-form-length") { [0x30, 0x81] + $0.der.dropFirst() },
        signature("signature-trailing-byte") { $0.der + [0] },
        signature("inner-trailing-byte") { [0x30, $0.der[1] + 1] + $0.der.dropFirst(2) + [0] },
        signature("indefinite-signature") { [0x30, 0x80] + $0.der.dropFirst(2) + [0, 0] },
        signature("raw-signature") { $0.r + $0.s },
        signature("r-zero") { LabSignature(r: [0], s: $0.s).der },
        signature("s-zero") { LabSignature(r: $0.r, s: [0]).der },
        signature("r-is-order") { LabSignature(r: SignatureDamage.order, s: $0.s).der },
        signature("s-is-order") { LabSignature(r: $0.r, s: SignatureDamage.order).der },
        signature("s-plus-order") { LabSignature(r: $0.r, s: SignatureDamage.plusOrder($0.s)).der },
        signature("swapped") { LabSignature(r: $0.s, s: $0.r).der },
    ]

    fileprivate static let messageRows: [Self] = [
        // Over the nonce as a digest instead of the nonce as a message.
        .draft("single-hash", .signatureInvalid) { $0.hashesNonce = false },
        .draft("by-other-key", .signatureInvalid) { $0.signingKey = $0.device.stranger },
        .draft("over-other-client-data", .signatureInvalid) {
            $0.clientDataHash = SHA256.hash($0.clientDataHash).bytes
        },
        .draft("over-authdata-only", .signatureInvalid) { $0.clientDataHash = [] },
        .parts("counter-changed-after-signing", .signatureInvalid) { $0.authData[36] ^= 1 },
        .parts("app-id-changed-after-signing", .signatureInvalid) { $0.authData[0] ^= 1 },
    ]

    fileprivate static let contentRows: [Self] =
        appIDRows + mapRows + entryRows + [mapCutOff, mapMoved { $0.authData = Array($0.authData.prefix(37)) }]
        + policyRows + [
            // Signed by a device that got the map and the hash as one.
            .draft("map-forged", .categoryMissing) {
                $0.authData.slipIn(map: CBORBytes.map($0.device.entriesForFaults))
            }.under(.category)
        ]

    private static func signature(_ name: String, _ edit: @escaping @Sendable (LabSignature) -> [UInt8]) -> Self {
        signature(name, .signatureInvalid, edit)
    }
}
