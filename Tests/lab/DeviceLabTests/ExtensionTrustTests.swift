internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Testing

/// Maps whose ED flag is clear, as iOS 27.0 and macOS 27.0 write them: the receipt says whether they are the device's.
@Suite struct ReceiptTrustTests {
    private static func verdict(
        _ device: FakeDevice,
        fault: AttestationFault? = nil,
        receiptFault: ReceiptFault? = nil,
        _ change: (inout Expectations) -> Void = { _ in }
    ) throws -> Result<AttestationEvidence, Refusal> {
        var expectations = device.expectations
        change(&expectations)
        let hash = Lab.clientDataHash
        let object = device.attest(clientDataHash: hash, at: Lab.noon, fault: fault, receiptFault: receiptFault)
        return try Lab.verifier().attestation(object, of: device, expectations)
    }

    private static let unflagged: [DeviceShape] = [.ios27_0, .macos27_0]
    /// Faults of the receipt's age alone: its content is still signed by Apple.
    private static let ages: Set<ReceiptRefusal> = [.fromFuture, .tooOld, .expired]

    @Test(arguments: unflagged)
    func `a map counts if the verified receipt has the hash, and for no other receipt`(shape: DeviceShape) throws {
        let device = Lab.device(shape)
        let good = try Self.verdict(device).get()
        #expect(good.validationCategory == device.category && !good.ignoresExtensions)
        for fault in ReceiptFault.allCases where fault != .otherClientHash && fault.applies(to: .attest, isAlone: false)
        {
            let evidence = try Self.verdict(device, receiptFault: fault).get()
            let counts = Self.ages.contains(fault.expected)
            #expect(evidence.validationCategory == (counts ? device.category : nil), "\(fault.name)")
            #expect(evidence.ignoresExtensions == !counts, "\(fault.name)")
            let strict = try Self.verdict(device, receiptFault: fault) { $0.categories.whenMissing = .refuse }
            #expect(reason(strict) == (counts ? nil : "category-missing"), "\(fault.name)")
        }
    }

    @Test(arguments: unflagged) func `a map counts for nothing where receipts are ignored`(shape: DeviceShape) throws {
        let device = Lab.device(shape)
        let ignored = try Self.verdict(device) { $0.receipt = .ignore }.get()
        #expect(ignored.validationCategory == nil && ignored.ignoresExtensions)
        let refused = try Self.verdict(device) {
            $0.receipt = .ignore
            $0.categories.whenMissing = .refuse
        }
        #expect(reason(refused) == "category-missing")
    }

    @Test(arguments: DeviceShape.allCases.filter { $0.hasReceipt })
    func `a map that an app gave its device to sign is refused, or missing without receipts`(
        shape: DeviceShape
    ) throws {
        let device = Lab.device(shape)
        #expect(reason(try Self.verdict(device, fault: .mapForged)) == "receipt:client-hash-mismatch")
        let ignored = try Self.verdict(device, fault: .mapForged) { $0.receipt = .ignore }.get()
        #expect(ignored.validationCategory == nil && ignored.ignoresExtensions)
        let stripped = try Self.verdict(device, fault: .mapUnvouched).get()
        #expect(stripped.validationCategory == nil && stripped.ignoresExtensions)
    }

    @Test(arguments: DeviceShape.allCases.filter { $0.hasCategory && !$0.setsEDFlag })
    func `an assertion's map without ED counts where the app trusts any`(shape: DeviceShape) throws {
        var device = Lab.device(shape)
        for trust in ExtensionTrust.allCases {
            var expectations = device.expectations
            expectations.extensionTrust = trust
            let object = device.assert(clientDataHash: Lab.clientDataHash)
            let evidence = try Lab.verifier().assertion(object, of: device, expectations).get()
            #expect(evidence.validationCategory == (trust == .any ? device.category : nil))
            #expect(evidence.ignoresExtensions == (trust == .flagged))
        }
    }
}
