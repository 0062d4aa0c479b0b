package import AppAttest
internal import Crypto

package typealias ReceiptFault = ObjectFault<ReceiptParts>

extension ReceiptParts: SignedObject {
    package typealias Draft = ReceiptDraft<ReceiptContext>
    package typealias Reason = ReceiptRefusal
    package static var malformed: ReceiptRefusal { .malformed }

    package static let faults: [ReceiptFault] =
        [.draft("missing", .missing) { $0.isAbsent = true }] + ReceiptFault.wholeRows(garbage: "no receipt")
        + ReceiptFault.payloadRows + ReceiptFault.certificateRows + ReceiptFault.signatureRows
        + ReceiptFault.contentRows
}

extension ReceiptFault {
    /// Whether a receipt of that type shows the fault. Without an attestation beside it (`isAlone`) no receipt can be
    /// missing, and no leaf but the receipt's own is known.
    package func applies(to type: ReceiptType, isAlone: Bool) -> Bool {
        switch self {
        case .missing, .leafOtherwiseIssued: !isAlone
        case .otherClientHash: type == .attest
        default: true
        }
    }

    fileprivate static let payloadRows: [Self] = [
        .draft("not-signed-data", .malformed) { $0.containerType = OID.envelopedData },
        .draft("content-not-data", .malformed) { $0.contentType = OID.signedData },
        .draft("no-signer", .malformed) { $0.signerInfoCount = 0 },
        .draft("two-signers", .malformed) { $0.signerInfoCount = 2 },
        .draft("payload-not-set", .malformed) { $0.payloadTag = 0x30 },
        .draft("payload-trailing-byte", .malformed) { $0.payloadSuffix = [0] },
        .draft("payload-empty", .malformed) { $0.fields = [] },
        .draft("duplicate-field", .malformed) { $0.fields += $0.fields.filter { $0.type == 2 } },
        .draft("creation-missing", .malformed) { $0.remove(12) },
        .draft("creation-not-date", .malformed) { $0.set(12, Array("yesterday".utf8)) },
        .draft("leaf-missing", .malformed) { $0.remove(3) },
        .draft("app-id-missing", .malformed) { $0.remove(2) },
    ]

    fileprivate static let certificateRows: [Self] = [
        .draft("signer-garbage", .badCertificate) { $0.certificates[0] = DER.sequence(DER.integer(1)) },
        .draft("signer-trailing-byte", .badCertificate) { $0.certificates[0].extendOutermost() },
        chain("signer-without-marker", .badCertificate),
        .draft("intermediate-garbage", .badCertificate) { $0.certificates[1] = DER.sequence(DER.integer(1)) },
        .draft("foreign-root", .chain) { $0.use($0.foreign.chain($0.foreign.signer(at: $0.context.time))) },
        .draft("foreign-intermediate", .chain) {
            // Beside the standing intermediate, whose key did not make this signer's signature.
            let signer = $0.foreign.signer(at: $0.context.time)
            $0.certificates[0] = signer.certificate
            $0.use(signer)
        },
        .draft("signer-issuer-name", .chain) {
            $0.use($0.context.device.ca.unfit.receiptSigners["signer-issuer-name"])
            $0.signerName = UnfitReceiptSigners.otherIssuerName
        },
        chain("signer-signature-flipped", .chain),
        chain("intermediate-not-ca", .chain),
        chain("intermediate-of-foreign-root", .chain),
        .draft("signer-expired", .expiredOrNotYetValid) { $0.useSigner(yearsOff: -3) },
        .draft("signer-not-yet-valid", .expiredOrNotYetValid) { $0.useSigner(yearsOff: 3) },
        chain("intermediate-expired", .expiredOrNotYetValid),
        chain("intermediate-not-yet-valid", .expiredOrNotYetValid),
        chain("signer-critical-policies", .badCertificate),
        chain("intermediate-name-constraints", .badCertificate),
        chain("intermediate-loose-ca", .badCertificate),
    ]

    private static func chain(_ name: String, _ expected: ReceiptRefusal) -> Self {
        .draft(name, expected) { $0.use($0.context.device.ca.unfit.receiptSigners[name]) }
    }

    fileprivate static let signatureRows: [Self] = [
        signature("signature-flipped", .signature) { $0.der.flippingLastBit() },
        signature("signature-empty", .signature) { _ in [] },
        signature("raw-signature", .signature) { $0.r + $0.s },
        signature("padded-signature", .signature, SignatureDamage.paddedR),
        .draft("by-other-key", .signature) { $0.signingKey = $0.context.device.stranger },
        .parts("changed-after-signing", .signature) { $0.content.changeToken() },
        .draft("uncovered-attributes", .signature) { $0.attributes = (OID.data, false) },
        .draft("attributes-of-other-type", .signature) { $0.attributes = (OID.signedData, true) },
    ]

    fileprivate static let contentRows: [Self] = [
        field("other-type", .type, 6) { Array(($0.type == .attest ? "RECEIPT" : "ATTEST").utf8) },
        field("unknown-type", .type, 6) { _ in Array("TEST".utf8) },
        field("other-app-id", .appID, 2) { _ in Array("0000000000.lab.other".utf8) },
        field("app-id-case", .appID, 2) { Array($0.device.appID.swappingCase().utf8) },
        field("other-environment", .environment, 7) {
            Array(ReceiptContext.name($0.device.environment == .production ? .development : .production).utf8)
        },
        field("unknown-environment", .environment, 7) { _ in Array("Sandbox".utf8) },
        // Another device of the same shape.
        field("leaf-of-other-device", .keyMismatch, 3) {
            FakeDevice($0.device.model, seed: ~$0.device.seed).leaf(clientDataHash: $0.clientDataHash, at: $0.time)
        },
        // The same key in another certificate: an earlier attestation's.
        field("leaf-otherwise-issued", .keyMismatch, 3) {
            $0.device.leaf(clientDataHash: $0.clientDataHash, at: $0.time - 60)
        },
        field("other-client-hash", .clientHash, 4) { SHA256.hash($0.clientDataHash).bytes },
        // Signed by the signer of that time: near a change of signers that is another one than now.
        .draft("from-future", .fromFuture) { $0.create(at: $0.context.time + 3600) },
        .draft("too-old", .tooOld) { $0.create(at: $0.context.time - 600) },
        .draft("expired", .expired) {
            $0.create(at: $0.context.time - 60)
            $0.set(21, CivilTime($0.context.time - 1).rfc3339)
        },
    ]

    private static func field(
        _ name: String,
        _ expected: ReceiptRefusal,
        _ type: UInt64,
        _ value: @escaping @Sendable (ReceiptContext) -> [UInt8]
    ) -> Self { .draft(name, expected) { $0.set(type, value($0.context)) } }
}

extension ReceiptDraft<ReceiptContext> {
    fileprivate var foreign: ReceiptAuthorities { context.device.ca.unfit.foreignReceipts }

    fileprivate mutating func remove(_ type: UInt64) { fields.removeAll { $0.type == type } }

    fileprivate mutating func useSigner(yearsOff: Int) {
        let receipts = context.device.ca.receipts
        use(receipts.chain(receipts.signer(year: CivilTime(context.time).year + yearsOff)))
    }

    /// All dates of a receipt made at another time, by that time's signer.
    fileprivate mutating func create(at creation: EvaluationTime) {
        let receipts = context.device.ca.receipts
        use(receipts.chain(receipts.signer(at: creation)))
        var facts = ReceiptFacts(context)
        facts.create(at: creation)
        fields = facts.fields
    }
}

extension [UInt8] {
    /// Changes a character of field 5, which only the signature covers.
    fileprivate mutating func changeToken() {
        // SEQUENCE of 96 bytes { type 5, version 1, OCTET STRING of 88 }.
        let header: [UInt8] = [0x30, 0x60, 0x02, 0x01, 0x05, 0x02, 0x01, 0x01, 0x04, 0x58]
        guard let start = firstRange(of: header)?.upperBound, start < count else { return }
        self[start] ^= 1
    }

    /// One byte more inside the outermost element, which has a length of two bytes.
    fileprivate mutating func extendOutermost() {
        self = DER.element(0x30, Array(self[4...]) + [0])
    }
}
