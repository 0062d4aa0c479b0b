internal import AppAttest
internal import Crypto

extension AssertionFault {
    static let signatureRows: [AssertionFaultRow] = spellingRows + scalarRows + messageRows

    private static let spellingRows: [AssertionFaultRow] = [
        signature(.signatureEmpty) { _ in [] },
        signature(.signatureFlipped) { $0.der.flippingLastBit() },
        signature(.rFlipped, SignatureDamage.flippingR),
        signature(.paddedR, SignatureDamage.paddedR),
        signature(.paddedS, SignatureDamage.paddedS),
        signature(.negativeR, SignatureDamage.negativeR),
        signature(.longFormLength) { SignatureDamage.longForm($0.der) },
        signature(.signatureTrailingByte) { $0.der + [0] },
        signature(.innerTrailingByte) { SignatureDamage.innerTrailingByte($0.der) },
        signature(.indefiniteSignature) { SignatureDamage.indefinite($0.der) },
        signature(.rawSignature) { $0.r + $0.s },
    ]

    private static let scalarRows: [AssertionFaultRow] = [
        signature(.rZero) { LabSignature(r: [0], s: $0.s).der },
        signature(.sZero) { LabSignature(r: $0.r, s: [0]).der },
        signature(.rIsOrder) { LabSignature(r: SignatureDamage.order, s: $0.s).der },
        signature(.sIsOrder) { LabSignature(r: $0.r, s: SignatureDamage.order).der },
        signature(.sPlusOrder) { LabSignature(r: $0.r, s: SignatureDamage.plusOrder($0.s)).der },
        signature(.swapped) { LabSignature(r: $0.s, s: $0.r).der },
    ]

    private static let messageRows: [AssertionFaultRow] = [
        // Over the nonce as a digest instead of the nonce as a message.
        draft(.singleHash) { $0.hashesNonce = false },
        draft(.byOtherKey) { $0.signingKey = $0.device.stranger },
        draft(.overOtherClientData) { $0.clientDataHash = SHA256.hash($0.clientDataHash).bytes },
        draft(.overAuthDataOnly) { $0.clientDataHash = [] },
        changed(.counterChangedAfterSigning, at: 36),
        changed(.appIDChangedAfterSigning, at: 0),
    ]

    private static func signature(
        _ fault: AssertionFault,
        _ edit: @escaping @Sendable (LabSignature) -> [UInt8]
    ) -> AssertionFaultRow { AssertionFaultRow(fault, .signatureInvalid, .signature(edit)) }

    private static func draft(
        _ fault: AssertionFault,
        _ edit: @escaping @Sendable (inout AssertionDraft) -> Void
    ) -> AssertionFaultRow { AssertionFaultRow(fault, .signatureInvalid, .draft(edit)) }

    /// A byte of authenticator data is not what was signed.
    private static func changed(_ fault: AssertionFault, at offset: Int) -> AssertionFaultRow {
        AssertionFaultRow(
            fault,
            .signatureInvalid,
            .topLevel {
                $0.edit("authenticatorData") { item in
                    // Two head bytes come before the data: it is longer than 23 bytes and shorter than 256.
                    item[2 + offset] ^= 1
                }
            }
        )
    }
}
