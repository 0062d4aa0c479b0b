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

    @Test(arguments: DeviceShape.allCases)
    func `every fault changes the object`(shape: DeviceShape) {
        let device = Lab.device(shape)
        let attestation = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon)
        for fault in AttestationFault.allCases where fault.applies(to: shape) && !fault.needsPolicy {
            let object = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon, fault: fault)
            #expect(object != attestation, "\(fault.name)")
        }
        let assertion = device.assertion(clientDataHash: Lab.clientDataHash, counter: 1)
        for fault in AssertionFault.allCases where fault.applies(to: shape) && !fault.needsPolicy {
            let object = device.assertion(clientDataHash: Lab.clientDataHash, counter: 1, fault: fault)
            #expect(object != assertion, "\(fault.name)")
        }
    }
}
