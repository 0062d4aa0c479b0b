package import AppAttest
internal import Crypto

package typealias AttestationFault = ObjectFault<AttestationParts>

extension AttestationParts: CBORObject {
    package typealias Draft = AttestationDraft
    static var subject: FaultSubject { .attestation }
    static var authDataName: String { "authData" }
    package typealias Reason = Refusal
    package static var malformed: Refusal { .malformedAttestation }

    package static let faults: [AttestationFault] =
        AttestationFault.containerRows + AttestationFault.formatRows + AttestationFault.certificateRows
        + AttestationFault.nonceRows + AttestationFault.authDataRows + AttestationFault.extensionRows
}

extension AttestationFault {
    /// Whether an app that ignores receipts accepts it.
    package var needsReceipts: Bool { self == .mapForged }

    /// Whether the reason depends on ``LabCA/attestationAnchorsPEM`` being anchored, not the one root alone.
    package var needsDatedAnchors: Bool { expected == .expiredOrNotYetValid(.root) }

    fileprivate static let formatRows: [Self] = [
        .parts("other-format", .badFormat) { $0.format = "apple" },
        .parts("packed-format", .badFormat) { $0.format = "packed" },
        .parts("format-case", .badFormat) { $0.format = "Apple-AppAttest" },
        .parts("format-suffix", .badFormat) { $0.format = "apple-appattest\0" },
        .parts("empty-format", .badFormat) { $0.format = "" },
    ]

    fileprivate static let nonceRows: [Self] = [
        .draft("nonce-missing", .nonceMissing) { $0.nonce = .absent },
        nonce("nonce-other-tag") { DER.sequence(DER.explicit(0, DER.octetString($0))) },
        nonce("nonce-31-bytes") { LeafExtensions.nonceValue(Array($0.dropLast())) },
        nonce("nonce-33-bytes") { LeafExtensions.nonceValue($0 + [0]) },
        nonce("nonce-trailing-byte") { LeafExtensions.nonceValue($0) + [0] },
        nonce("nonce-bare") { $0 },
        nonce("nonce-empty") { _ in [] },
        nonce("nonce-long-form-length") { [0x30, 0x81, 0x24, 0xA1, 0x22, 0x04, 0x20] + $0 },
        nonce("nonce-flipped", .nonceMismatch) { LeafExtensions.nonceValue($0.flippingLastBit()) },
        .draft("nonce-of-other-client-data", .nonceMismatch) {
            $0.clientDataHash = SHA256.hash($0.clientDataHash).bytes
        },
        .draft("nonce-of-authdata-only", .nonceMismatch) { $0.clientDataHash = [] },
        .parts("authdata-changed-after-signing", .nonceMismatch) { $0.authData[36] ^= 1 },
    ]

    /// Another extension value, made of the nonce that the draft would have by itself.
    private static func nonce(
        _ name: String,
        _ expected: Refusal = .nonceMalformed,
        _ value: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> Self {
        .draft(name, expected) {
            $0.nonce = .value(value(SHA256.hash($0.authData.bytes + $0.clientDataHash).bytes))
        }
    }

    /// Faults of the extension map and of an app's policy on it.
    fileprivate static let extensionRows: [Self] =
        mapRows + [
            mapCutOff,
            .draft("map-of-old-system", .extensionsNotExpected) {
                $0.authData.announce(map: CBORBytes.map($0.device.entriesForFaults))
                $0.nameOldSystem()
            },
            .draft("map-forged", .receipt(.clientHash)) { $0.forge(map: CBORBytes.map($0.device.entriesForFaults)) }
                .on(\.hasReceipt),
            mapMoved { $0.authData = Array($0.authData.prefix(164)) },
        ] + entryRows + policyRows + [
            .draft("map-unvouched", .categoryMissing) {
                $0.forge(map: CBORBytes.map($0.device.entriesForFaults))
                $0.hasReceipt = false
            }.under(.category),
            .parts("receipt-missing", .receipt(.missing)) { $0.receipt = nil }.under(.receipt).on(\.hasReceipt),
        ]
}
