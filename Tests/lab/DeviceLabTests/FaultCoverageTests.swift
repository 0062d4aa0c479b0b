internal import AppAttest
internal import DeviceLab
internal import Testing

@Suite struct FaultCoverageTests {
    @Test func `every reason of the verifier except key-invalid has a fault that leads to it`() {
        let expected =
            Set(AttestationFault.allCases.map(\.expected)).union(AssertionFault.allCases.map(\.expected))
            .union(ReceiptFault.allCases.map { .receipt($0.expected) })
        let receipts = ReceiptRefusal.allCases.map(Refusal.receipt)
        let dates = Refusal.CertificateRole.allCases.map(Refusal.expiredOrNotYetValid)
        // A stored key that is not a point is the store's fault: no device can cause it.
        let others: [Refusal] = [
            .malformedAttestation, .malformedAssertion, .badFormat, .badCertificate, .chain, .nonceMissing,
            .nonceMalformed, .nonceMismatch, .flags, .aclMissing, .aclMismatch, .keyType, .keyIDMismatch,
            .appIDMismatch, .counterNotZero, .aaguidUnknown, .environmentMismatch, .credentialIDLength,
            .credentialIDMismatch, .coseKeyMismatch, .malformedAuthData, .extensionsNotExpected, .categoryMissing,
            .categoryNotAllowed,
            .bundleVersionMissing, .bundleVersionNotAllowed, .signatureInvalid,
        ]
        #expect(expected == Set(receipts + dates + others))
    }
}
