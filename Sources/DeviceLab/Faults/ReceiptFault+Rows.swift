internal import AppAttest
internal import Crypto

extension ReceiptFault {
    static let containerRows: [ReceiptFaultRow] = [
        ReceiptFaultRow(.missing, .missing, .absent),
        .bytes(.empty) { $0 = [] },
        .bytes(.garbage) { $0 = Array("no receipt".utf8) },
        .bytes(.truncated) { $0.removeLast() },
        .bytes(.trailingByte) { $0.append(0) },
        .bytes(.twoObjects) { $0 += $0 },
        .draft(.notSignedData, .malformed) { draft, _ in draft.containerType = OID.envelopedData },
        .draft(.contentNotData, .malformed) { draft, _ in draft.contentType = OID.signedData },
        .draft(.noSigner, .malformed) { draft, _ in draft.signerInfoCount = 0 },
        .draft(.twoSigners, .malformed) { draft, _ in draft.signerInfoCount = 2 },
        .draft(.payloadNotSet, .malformed) { draft, _ in draft.payloadTag = 0x30 },
        .draft(.payloadTrailingByte, .malformed) { draft, _ in draft.payloadSuffix = [0] },
        .draft(.payloadEmpty, .malformed) { draft, _ in draft.fields = [] },
        .draft(.duplicateField, .malformed) { draft, _ in draft.fields += draft.fields.filter { $0.type == 2 } },
        .draft(.creationMissing, .malformed) { draft, _ in draft.remove(12) },
        .draft(.creationNotDate, .malformed) { draft, _ in draft.set(12, Array("yesterday".utf8)) },
        .draft(.leafMissing, .malformed) { draft, _ in draft.remove(3) },
        .draft(.appIDMissing, .malformed) { draft, _ in draft.remove(2) },
    ]

    static let certificateRows: [ReceiptFaultRow] = [
        .draft(.signerGarbage, .badCertificate) { draft, _ in draft.certificates[0] = DER.sequence(DER.integer(1)) },
        .draft(.signerTrailingByte, .badCertificate) { draft, _ in draft.certificates[0].extendOutermost() },
        .draft(.signerWithoutMarker, .badCertificate) { $0.use($1.unfit.withoutMarker) },
        .draft(.intermediateGarbage, .badCertificate) { draft, _ in
            draft.certificates[1] = DER.sequence(DER.integer(1))
        },
        .draft(.signerCriticalPolicies, .badCertificate) { $0.use($1.unfit.withCriticalPolicies) },
        .draft(.intermediateNameConstraints, .badCertificate) { $0.use($1.unfit.underNameConstraints) },
        .draft(.intermediateLooseCA, .badCertificate) { $0.use($1.unfit.underLooseCA) },
        .draft(.foreignRoot, .chain) { $0.use($1.foreign, signer: $1.foreign.signer(at: $1.time)) },
        .draft(.foreignIntermediate, .chain) { draft, context in
            // Beside the standing intermediate, whose key did not make this signer's signature.
            let signer = context.foreign.signer(at: context.time)
            draft.certificates[0] = signer.certificate
            draft.use(signer)
        },
        .draft(.signerIssuerName, .chain) {
            $0.use($1.unfit.withOtherIssuerName)
            $0.signerName = UnfitReceiptSigners.otherIssuerName
        },
        .draft(.signerSignatureFlipped, .chain) { $0.use($1.unfit.withFlippedSignature) },
        .draft(.intermediateNotCA, .chain) { $0.use($1.unfit.underNonAuthority) },
        .draft(.intermediateOfForeignRoot, .chain) { $0.use($1.unfit.underIntermediateOfForeignRoot) },
        .draft(.signerExpired, .expiredOrNotYetValid) { $0.use($1.receipts, signer: $1.signer(yearsOff: -3)) },
        .draft(.signerNotYetValid, .expiredOrNotYetValid) { $0.use($1.receipts, signer: $1.signer(yearsOff: 3)) },
        .draft(.intermediateExpired, .expiredOrNotYetValid) { $0.use($1.unfit.underExpiredIntermediate) },
        .draft(.intermediateNotYetValid, .expiredOrNotYetValid) { $0.use($1.unfit.underFutureIntermediate) },
    ]

    static let signatureRows: [ReceiptFaultRow] = [
        ReceiptFaultRow(.signatureFlipped, .signature, .signature { $0.der.flippingLastBit() }),
        ReceiptFaultRow(.signatureEmpty, .signature, .signature { _ in [] }),
        ReceiptFaultRow(.rawSignature, .signature, .signature { $0.r + $0.s }),
        ReceiptFaultRow(.paddedSignature, .signature, .signature(SignatureDamage.paddedR)),
        .draft(.byOtherKey, .signature) { $0.signingKey = $1.device.stranger },
        ReceiptFaultRow(.changedAfterSigning, .signature, .content { $0.changeToken() }),
        .draft(.uncoveredAttributes, .signature) { draft, _ in draft.attributes = .uncovered },
        .draft(.attributesOfOtherType, .signature) { draft, _ in draft.attributes = .covered(type: OID.signedData) },
    ]

    static let contentRows: [ReceiptFaultRow] = [
        .draft(.otherType, .type) { $0.set(6, Array(($1.type == .attest ? "RECEIPT" : "ATTEST").utf8)) },
        .draft(.unknownType, .type) { draft, _ in draft.set(6, Array("TEST".utf8)) },
        .draft(.otherAppID, .appID) { draft, _ in draft.set(2, Array("0000000000.lab.other".utf8)) },
        .draft(.appIDCase, .appID) { $0.set(2, Array($1.device.appID.swappingCase().utf8)) },
        .draft(.otherEnvironment, .environment) { draft, context in
            let other: Environment = context.device.environment == .production ? .development : .production
            draft.set(7, Array(ReceiptContext.name(other).utf8))
        },
        .draft(.unknownEnvironment, .environment) { draft, _ in draft.set(7, Array("Sandbox".utf8)) },
        .draft(.leafOfOtherDevice, .keyMismatch) { $0.set(3, $1.otherDevice.leaf(for: $1)) },
        .draft(.leafOtherwiseIssued, .keyMismatch) { draft, context in
            // The same key in another certificate: an earlier attestation's.
            let earlier = context.time - 60
            draft.set(3, context.device.leaf(clientDataHash: context.clientDataHash, at: earlier))
        },
        .draft(.otherClientHash, .clientHash) { $0.set(4, SHA256.hash($1.clientDataHash).bytes) },
        // Signed by the signer of that time: near a change of signers that is another one than now.
        .draft(.fromFuture, .fromFuture) { $0.create(at: $1.time + 3600, $1) },
        .draft(.tooOld, .tooOld) { $0.create(at: $1.time - 600, $1) },
        .draft(.expired, .expired) {
            $0.create(at: $1.time - 60, $1)
            $0.set(21, ReceiptContext.date($1.time - 1))
        },
    ]
}

extension ReceiptContext {
    fileprivate var unfit: UnfitReceiptSigners { device.ca.unfit.receiptSigners }
    fileprivate var receipts: ReceiptAuthorities { device.ca.receipts }
    fileprivate var foreign: ReceiptAuthorities { device.ca.unfit.foreignReceipts }

    fileprivate func signer(yearsOff: Int) -> LabAuthority {
        receipts.signer(year: CivilTime(time).year + yearsOff)
    }

    /// Another device of the same shape.
    fileprivate var otherDevice: FakeDevice { FakeDevice(device.model, seed: ~device.seed) }
}

extension FakeDevice {
    fileprivate func leaf(for context: ReceiptContext) -> [UInt8] {
        leaf(clientDataHash: context.clientDataHash, at: context.time)
    }
}

extension ReceiptDraft {
    fileprivate mutating func remove(_ type: UInt64) { fields.removeAll { $0.type == type } }

    fileprivate mutating func use(_ authorities: ReceiptAuthorities, signer: LabAuthority) {
        certificates = [
            signer.certificate, authorities.intermediate.certificate, authorities.root.certificate,
        ]
        use(signer)
    }

    /// All dates of a receipt made at another time, by that time's signer.
    fileprivate mutating func create(at creation: EvaluationTime, _ context: ReceiptContext) {
        use(context.receipts, signer: context.receipts.signer(at: creation))
        set(12, ReceiptContext.date(creation))
        set(19, ReceiptContext.date(creation + 86_400))
        set(21, ReceiptContext.date(creation + ReceiptContext.validity))
    }
}

extension [UInt8] {
    /// Changes a character of field 5, which only the signature covers.
    fileprivate mutating func changeToken() {
        // SEQUENCE of 96 bytes { type 5, version 1, OCTET STRING of 88 }.
        let header: [UInt8] = [0x30, 0x60, 0x02, 0x01, 0x05, 0x02, 0x01, 0x01, 0x04, 0x58]
        let start = indices.first { start in
            count - start > header.count && header.indices.allSatisfy { self[start + $0] == header[$0] }
        }
        guard let start else { return }
        self[start + header.count] ^= 1
    }

    /// One byte more inside the outermost element, which has a length of two bytes.
    fileprivate mutating func extendOutermost() {
        self = DER.element(0x30, Array(self[4...]) + [0])
    }
}
