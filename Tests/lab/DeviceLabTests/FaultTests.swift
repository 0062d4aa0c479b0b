internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Testing

/// Every shape against the real verifier: right objects are accepted, each fault gets exactly its own reason; and the
/// imitated signatures lead to the same verdicts as real ones.
@Suite struct FaultTests {
    enum Signing: String, CaseIterable {
        case ecdsa, oracle

        var ca: LabCA { self == .ecdsa ? Lab.ca : Lab.oracleCA }
        var engine: any SignatureEngine { self == .ecdsa ? OpenSSLEngine() : OracleEngine() }
    }

    @Test(arguments: DeviceShape.allCases, Signing.allCases)
    func `an attestation without a fault is accepted with its receipt, in both environments`(
        shape: DeviceShape,
        signing: Signing
    ) throws {
        for environment in Environment.allCases {
            let device = Lab.device(shape, environment: environment, ca: signing.ca)
            let object = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon)
            let verdict = try Lab.verifier(signing.ca).attestation(object, of: device, by: signing.engine)
            #expect(reason(verdict) == nil)
            let evidence = try verdict.get()
            #expect(evidence.publicKey == device.publicKey)
            #expect(evidence.environment == environment)
            #expect((evidence.receipt == nil) == !shape.hasReceipt)
            #expect(evidence.receipt?.refusal == nil)
            #expect(!evidence.ignoresExtensions)
            #expect(evidence.validationCategory == (shape.hasCategory ? device.category : nil))
            #expect(evidence.bundleVersion == (shape.hasBundleVersion ? ExactText(device.bundleVersion) : nil))
        }
    }

    @Test(arguments: DeviceShape.allCases, Signing.allCases)
    func `each fault of an attestation is refused for its own reason`(shape: DeviceShape, signing: Signing) throws {
        let device = Lab.device(shape, ca: signing.ca)
        let (verifier, engine) = (try Lab.verifier(signing.ca), signing.engine)
        for fault in AttestationFault.allCases where fault.applies(to: shape) {
            let object = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon, fault: fault)
            let expectations = fault.neededExpectations(device.expectations, for: device)
            let verdict = verifier.attestation(object, of: device, expectations, by: engine)
            #expect(reason(verdict) == fault.expected.code, "\(fault.name)")
        }
    }

    @Test(arguments: DeviceShape.allCases)
    func `an attestation's policy faults are accepted where no policy applies`(shape: DeviceShape) throws {
        var device = Lab.device(shape)
        let verifier = try Lab.verifier()
        for fault in AttestationFault.allCases where fault.needsPolicy && fault.applies(to: shape) {
            var expectations = device.expectations
            expectations.environments = Set(Environment.allCases)
            let object = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon, fault: fault)
            #expect(reason(verifier.attestation(object, of: device, expectations)) == nil, "\(fault.name)")
        }
        for fault in AssertionFault.allCases where fault.needsPolicy {
            let object = device.assert(clientDataHash: Lab.clientDataHash, fault: fault)
            #expect(reason(verifier.assertion(object, of: device)) == nil, "\(fault.name)")
        }
    }

    @Test(arguments: DeviceShape.allCases, Signing.allCases)
    func `assertions without a fault are accepted with rising counters`(shape: DeviceShape, signing: Signing) throws {
        var device = Lab.device(shape, ca: signing.ca)
        let verifier = try Lab.verifier(signing.ca)
        for counter in UInt32(1)...3 {
            let object = device.assert(clientDataHash: Lab.clientDataHash)
            let verdict = verifier.assertion(object, of: device, by: signing.engine)
            #expect(reason(verdict) == nil)
            let evidence = try verdict.get()
            #expect(evidence.counter == counter)
            #expect(evidence.appID.text == Lab.appID)
            // Without ED nothing vouches for an assertion's map.
            let counts = shape.setsEDFlag
            #expect(evidence.validationCategory == (counts && shape.hasCategory ? device.category : nil))
            #expect(
                evidence.bundleVersion == (counts && shape.hasBundleVersion ? ExactText(device.bundleVersion) : nil)
            )
            #expect(evidence.ignoresExtensions == (!counts && shape.hasCategory))
        }
        let largest = device.assertion(clientDataHash: Lab.clientDataHash, counter: .max)
        #expect(try verifier.assertion(largest, of: device, by: signing.engine).get().counter == .max)
    }

    @Test(arguments: DeviceShape.allCases, Signing.allCases)
    func `each fault of an assertion is refused for its own reason`(shape: DeviceShape, signing: Signing) throws {
        var device = Lab.device(shape, ca: signing.ca)
        let (verifier, engine) = (try Lab.verifier(signing.ca), signing.engine)
        for fault in AssertionFault.allCases where fault.applies(to: shape) {
            let object = device.assert(clientDataHash: Lab.clientDataHash, fault: fault)
            let expectations = fault.neededExpectations(device.expectations, for: device)
            let verdict = verifier.assertion(object, of: device, expectations, by: engine)
            #expect(reason(verdict) == fault.expected.code, "\(fault.name)")
        }
    }
}
