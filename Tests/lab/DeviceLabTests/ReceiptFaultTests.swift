internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Testing

@Suite struct ReceiptFaultTests {
    static let shapes: [DeviceShape] = [.ios14_0, .ios17_5, .ios27_0_1, .macos27_0, .receiptInDER]

    @Test(arguments: shapes, FaultTests.Signing.allCases)
    func `a faulty receipt is refused, and its attestation only if one is required or it names another hash`(
        shape: DeviceShape,
        signing: FaultTests.Signing
    ) throws {
        let device = Lab.device(shape, ca: signing.ca)
        let (verifier, engine) = (try Lab.verifier(signing.ca), signing.engine)
        for fault in ReceiptFault.allCases where fault.applies(to: .attest, isAlone: false) {
            let object = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon, receiptFault: fault)
            func verdict(_ policy: ReceiptPolicy) -> Result<AttestationEvidence, Refusal> {
                var expectations = device.expectations
                expectations.receipt = policy
                return verifier.attestation(object, of: device, expectations, by: engine)
            }
            #expect(reason(verdict(.require)) == Refusal.receipt(fault.expected).code, "\(fault.name)")
            #expect(reason(verdict(.ignore)) == nil, "\(fault.name)")
            guard fault != .otherClientHash else {
                // A receipt for another client hash refuses the attestation even where receipts are only reported.
                #expect(reason(verdict(.report)) == "receipt:client-hash-mismatch")
                continue
            }
            let reported = try verdict(.report).get().receipt
            #expect(fault == .missing ? reported == nil : reported?.refusal == fault.expected, "\(fault.name)")
        }
    }

    @Test(arguments: shapes, [ReceiptType.attest, .receipt])
    func `a receipt on its own is accepted, and refused for each fault's own reason`(
        shape: DeviceShape,
        type: ReceiptType
    ) throws {
        let device = Lab.device(shape)
        let verifier = try Lab.verifier()
        func verdict(_ fault: ReceiptFault?) throws -> ReceiptVerdict {
            let receipt = device.receipt(type, clientDataHash: Lab.clientDataHash, at: Lab.noon, fault: fault)
            return try verifier.receipt(receipt, of: device, type)
        }
        let accepted = try verdict(nil)
        #expect(accepted.refusal == nil)
        #expect(accepted.type == type)
        #expect(accepted.createdAt == Lab.noon)
        #expect((accepted.riskMetric == nil) == (type == .attest))
        for fault in ReceiptFault.allCases where fault.applies(to: type, isAlone: true) {
            #expect(try verdict(fault).refusal == fault.expected, "\(fault.name)")
        }
    }

    private static let changes: [(ReceiptFault, Int64)] = [
        (.tooOld, 1_768_867_500_000), (.expired, 1_768_867_230_000), (.fromFuture, 1_768_866_000_000),
    ]

    /// Signers change at midnight of 20 January: a receipt made before it has the older one.
    @Test(arguments: changes)
    func `faults of time keep their reason when signers change`(fault: ReceiptFault, milliseconds: Int64) throws {
        let device = Lab.device(.ios27_0_1)
        let time = EvaluationTime(milliseconds: milliseconds)
        let receipt = device.receipt(.attest, clientDataHash: Lab.clientDataHash, at: time, fault: fault)
        let verdict = try Lab.verifier().receipt(receipt, of: device, .attest, at: time)
        #expect(verdict.refusal == fault.expected)
    }
}
