internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import TestKit
internal import Testing

@testable internal import AppCheck

/// Each reading against the mistake that it is made for, and against objects that are refused for other causes.
@Suite("Readings")
struct ReadingTests {
    private static let artifact = [UInt8](1...120)

    /// How a request states its client data.
    enum Form: CaseIterable { case clientData, exchange, hash }

    private static func forms(_ mistake: AppMistake, _ kind: ObjectReport.Kind) -> [Form] {
        // What is made of the hash alone can be told without the data.
        let isOfHash = ["hash-of-hash", "base64-of-hash", "hex-of-hash"].contains(mistake.name)
        if mistake.hasArtifact { return [.exchange] }
        return isOfHash ? Form.allCases : [.clientData, .exchange]
    }

    private static func refused(
        _ mistake: AppMistake,
        _ kind: ObjectReport.Kind,
        _ form: Form
    ) throws -> (ReadingBench, RefusedObject) {
        let device = mistake.device(ca: ReadingBench.ca, appID: ReadingBench.appID)
        let artifact = form == .exchange && kind == .assertion ? Self.artifact : []
        var bench = try ReadingBench(kind, mistake.object(kind, of: device, artifact: artifact, at: ReadingBench.time))
        bench.arguments.clientDataHash = SHA256.hash(artifact + mistake.clientData).bytes
        bench.arguments.keyID = mistake.keyID(of: device)
        bench.arguments.key = device.publicKey
        bench.arguments.expectations?.environments = [mistake.accepted]
        var refused = bench.refused
        switch form {
        case .clientData: refused.clientData = .data(mistake.clientData)
        case .exchange: refused.clientData = .exchange(artifact: artifact, challenge: mistake.clientData)
        case .hash: break
        }
        refused.isKeyKnown = mistake.name == "key-id-of-other-key"
        return (bench, refused)
    }

    @Test(arguments: AppMistake.all)
    func `a mistake is refused for its reason, and the reading names it`(_ mistake: AppMistake) throws {
        for kind in mistake.kinds {
            for form in Self.forms(mistake, kind) {
                let (bench, refused) = try Self.refused(mistake, kind, form)
                let reason = try #require(mistake.expected[kind]).code
                #expect(refused.report.reason == reason)
                let reading = try #require(bench.reading(refused), "\(kind), \(form)")
                #expect(reading.name == mistake.name, "\(kind), \(form)")
                #expect(reading.sentence.hasSuffix(".") && reading.sentence.count > 30)
                // It explains the verdict and changes none.
                let explained = refused.report.with(reading)
                #expect(explained.reason == reason && explained.failedCheck?.reading == reading)
                #expect(bench.verdict == reason)
            }
        }
    }

    @Test func `each reading has a mistake, and each mistake a reading`() {
        let names = Reading.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(names) == Set(AppMistake.all.map(\.name)))
    }

    @Test func `a reading belongs to the reasons that developers ask about`() {
        let reasons: [Refusal] = [
            .malformedAttestation, .malformedAssertion, .nonceMismatch, .keyIDMismatch, .appIDMismatch,
            .environmentMismatch, .signatureInvalid,
        ]
        #expect(Reading.all.reduce(into: Set()) { $0.formUnion($1.reasons) } == Set(reasons.map(\.code)))
    }

    @Test(arguments: [
        "nonce-flipped", "authdata-changed-after-signing", "other-app-id", "truncated", "garbage", "flags-clear",
    ])
    func `an attestation that is refused for another cause has no reading`(_ name: String) throws {
        let fault = try #require(AttestationFault.allCases.first { $0.name == name })
        let device = ReadingBench.device
        let object = device.attest(clientDataHash: ReadingBench.hash, at: ReadingBench.time, fault: fault)
        var refused = try ReadingBench(.attestation, object).refused
        refused.clientData = .data(ReadingBench.clientData)
        #expect(refused.report.reason == fault.expected.code)
        #expect(try ReadingBench(.attestation, object).reading(refused) == nil)
    }

    @Test(arguments: [
        "signature-flipped", "r-flipped", "by-other-key", "swapped", "other-app-id", "truncated", "r-zero",
    ])
    func `an assertion that is refused for another cause has no reading`(_ name: String) throws {
        let fault = try #require(AssertionFault.allCases.first { $0.name == name })
        let object = ReadingBench.device.assertion(clientDataHash: ReadingBench.hash, counter: 1, fault: fault)
        var refused = try ReadingBench(.assertion, object).refused
        refused.clientData = .data(ReadingBench.clientData)
        #expect(refused.report.reason == fault.expected.code)
        #expect(try ReadingBench(.assertion, object).reading(refused) == nil)
    }

    @Test func `an accepted object has no reading`() throws {
        for kind in [ObjectReport.Kind.attestation, .assertion] {
            let bench = try ReadingBench(kind, ReadingBench.object(kind))
            #expect(bench.refused.report.reason == nil)
            #expect(bench.reading(bench.refused) == nil)
        }
    }

    @Test(
        .enabled(if: Vectors.arePresent, Vectors.absence),
        arguments: Vectors.real(.assertion).filter { $0.expected == "signature-invalid" }
    )
    func `devices of early betas hashed twice, and the reading says so`(_ vector: RealVector) throws {
        let data = try #require(vector.clientDataBytes)
        var bench = try ReadingBench(.assertion, vector.objectBytes)
        bench.arguments.clientDataHash = SHA256.hash(data).bytes
        bench.arguments.key = vector.publicKeyBytes.flatMap { P256PublicKey(x963: $0) }
        bench.arguments.expectations = Expectations(appIDs: [AppID(try #require(vector.appID))])
        var refused = bench.refused
        refused.clientData = .data(data)
        #expect(refused.report.reason == vector.expected)
        #expect(bench.reading(refused)?.name == "hash-of-hash")
    }
}

/// A verifier of the lab, and what one object is judged by.
struct ReadingBench {
    static let ca = LabCA(seed: 1)
    static let appID = "ABCDE12345.com.example.app"
    static let time = EvaluationTime(milliseconds: 1_791_806_400_250)
    static let clientData = Array("a challenge of 32 bytes or so ...".utf8)
    static let hash = SHA256.hash(clientData).bytes
    static let device = FakeDevice(ca: ca, appID: appID, seed: 3)

    static func object(_ kind: ObjectReport.Kind) -> [UInt8] {
        kind == .attestation
            ? device.attest(clientDataHash: hash, at: time) : device.assertion(clientDataHash: hash, counter: 1)
    }

    let kind: ObjectReport.Kind
    let object: [UInt8]
    let verifier: ObjectVerifier
    var arguments = InspectionArguments()

    init(_ kind: ObjectReport.Kind, _ object: [UInt8]) throws {
        (self.kind, self.object) = (kind, object)
        verifier = ObjectVerifier(anchors: try Self.ca.anchors())
        arguments.clientDataHash = Self.hash
        arguments.keyID = Self.device.keyID
        arguments.key = Self.device.publicKey
        arguments.expectations = Expectations(appIDs: [AppID(Self.appID)])
    }

    /// The object with its report.
    var refused: RefusedObject {
        let report =
            kind == .attestation
            ? verifier.inspectAttestation(object, arguments, at: Self.time, engine: OpenSSLEngine())
            : verifier.inspectAssertion(object, arguments, engine: OpenSSLEngine())
        var refused = RefusedObject(InspectedInput(kind, object, arguments), report)
        refused.knownAppIDs = [AppID(Self.appID), AppID(AppMistake.otherAppID)]
        return refused
    }

    func reading(_ refused: RefusedObject) -> FittingReading? {
        Reading.fitting(refused, verifier, at: Self.time, engine: OpenSSLEngine())
    }

    /// The reason that the hot path gives; nil = accepted.
    var verdict: String? {
        guard let hash = arguments.clientDataHash, let key = arguments.key, let keyID = arguments.keyID,
            let expectations = arguments.expectations
        else { return "incomplete" }
        let refusal: Refusal?
        switch kind {
        case .attestation:
            let prepared = verifier.prepareAttestation(
                object,
                clientDataHash: hash,
                keyID: keyID,
                expectations: expectations,
                at: Self.time
            )
            refusal = prepared.verified(by: OpenSSLEngine()).failure
        case .assertion, .receipt:
            let prepared = verifier.prepareAssertion(
                object,
                clientDataHash: hash,
                key: key,
                expectations: expectations
            )
            refusal = prepared.verified(by: OpenSSLEngine()).failure
        }
        return refusal?.code
    }
}
