import Crypto
import TestKit
import Testing

@testable import AppAttest

@Suite struct InspectionTests {
    private static func verifier() throws -> ObjectVerifier {
        ObjectVerifier(anchors: try TrustAnchors(attestationPEM: [TestAuthority.root], receiptPEM: []))
    }

    private static func inspect(
        _ attestation: MadeAttestation,
        _ change: (inout InspectionArguments) -> Void = { _ in },
        answer: Bool = true
    ) throws -> ObjectReport {
        var arguments = InspectionArguments()
        arguments.clientDataHash = MadeAttestation.clientDataHash
        arguments.keyID = MadeAttestation.keyID
        arguments.expectations = Expectations(appIDs: [MadeAttestation.appID])
        change(&arguments)
        return try verifier().inspectAttestation(
            attestation.object,
            arguments,
            at: MadeAttestation.time,
            engine: AnsweringEngine(answer)
        )
    }

    @Test func `every check of a valid attestation has passed`() throws {
        let report = try Self.inspect(MadeAttestation())
        #expect(report.reason == nil)
        #expect(report.checks.map(\.name) == CheckNames.attestation)
        #expect(report.checks.filter { $0.outcome != .passed }.map(\.name) == ["receipt"])
        #expect(report.checks.last?.outcome == .notJudged(nil))
    }

    private static let faults: [(String, Refusal, @Sendable (inout MadeAttestation) -> Void)] = [
        ("format", .badFormat, { $0.format = CBORText.text("packed") }),
        ("certificates", .badCertificate, { $0.leaf.version = [] }),
        ("chain", .chain, { $0.leaf.issuer = DER.sequence() }),
        ("dates", .expiredOrNotYetValid(.leaf), { $0.leaf.validity = $0.leaf.past }),
        ("nonce", .nonceMissing, { $0.addsNonce = false }),
        ("authenticator data", .malformedAuthData, { $0.authDataLength = 163 }),
        ("authenticator data", .flags, { $0.flags = 0 }),
        ("app ID", .appIDMismatch, { $0.rpIDHash[0] ^= 1 }),
        ("COSE key", .coseKeyMismatch, { $0.coseKey[0] ^= 1 }),
        ("extension map", .malformedAuthData, { $0.rest = [0] }),
    ]

    @Test(arguments: faults)
    func `checks before a failed one have passed, those after it were not reached`(
        _ step: String,
        _ refusal: Refusal,
        _ change: @Sendable (inout MadeAttestation) -> Void
    ) throws {
        var attestation = MadeAttestation()
        change(&attestation)
        let report = try Self.inspect(attestation)
        #expect(report.reason == refusal.code)
        let failed = try #require(report.checks.firstIndex { $0.name == step })
        #expect(report.checks[failed].outcome == .failed(refusal.code))
        #expect(report.checks[..<failed].allSatisfy { $0.outcome == .passed })
        #expect(report.checks[(failed + 1)...].allSatisfy { $0.outcome == .notReached })
    }

    @Test func `checks without their argument are not judged, the others are`() throws {
        let open: (inout InspectionArguments) -> Void = { $0 = InspectionArguments() }
        let report = try Self.inspect(MadeAttestation(), open)
        #expect(report.reason == nil)
        #expect(report.checks.filter { $0.outcome == .notJudged(nil) }.map(\.name) == ["nonce", "app ID", "receipt"])
        var wrong = MadeAttestation()
        wrong.counter = [0, 0, 0, 1]
        #expect(try Self.inspect(wrong, open).reason == "counter-not-zero")
        #expect(try Self.inspect(MadeAttestation(), open, answer: false).reason == "chain")
    }

    @Test func `bytes that are not an object have a size and a reason`() throws {
        let verifier = try Self.verifier()
        let time = MadeAttestation.time
        let arguments = InspectionArguments()
        let engine = AnsweringEngine(true)
        let attestation = verifier.inspectAttestation([1], arguments, at: time, engine: engine)
        #expect(attestation.reason == "malformed-attestation")
        #expect(attestation.fields == [ReportField(name: "size", value: .number(1))])
        let assertion = verifier.inspectAssertion([1], arguments, engine: engine)
        #expect(assertion.reason == "malformed-assertion")
        let expectations = ReceiptExpectations(appIDs: [], environments: [])
        let receipt = verifier.inspectReceipt([1], expectations: expectations, at: time, engine: engine)
        #expect(receipt.reason == "receipt:malformed")
    }

    @Test(
        .enabled(if: Vectors.arePresent, Vectors.absence),
        arguments: Vectors.real(.attestation)
    )
    func `a real attestation shows its fields`(_ vector: RealVector) throws {
        var arguments = InspectionArguments()
        arguments.clientDataHash = vector.clientDataHashBytes
        let report = try Vectors.appleVerifier().inspectAttestation(
            vector.objectBytes,
            arguments,
            at: vector.validAtTime,
            engine: OpenSSLEngine()
        )
        let fields = Dictionary(uniqueKeysWithValues: report.fields.map { ($0.name, $0.value) })
        #expect(fields["leaf.appId"] == .text(try #require(vector.appID)))
        let keyID = try #require(vector.keyIDBytes)
        #expect(fields["leaf.subject"] == .text(ReportValue.bytes(keyID).description))
        #expect(fields["leaf.keyId"] == .base64(keyID))
        #expect(fields["authData.credentialId"] == fields["leaf.keyId"])
        #expect(fields["authData.environment"] == .text(try #require(vector.environment)))
        #expect(fields["intermediate.subject"] == .text("Apple App Attestation CA 1"))
        #expect(fields["leaf.notAfter"] == .time(try #require(vector.leafNotAfterTime)))
        #expect(report.reason == vector.receiptExpected)
        let hasReceipt = fields["receipt.size"] != nil
        #expect((report.checks.last?.outcome == .notJudged(nil)) == !hasReceipt)
        #expect((fields["receipt.type"] == .text("ATTEST")) == hasReceipt)
    }

    @Test(
        .enabled(if: Vectors.arePresent, Vectors.absence),
        arguments: Vectors.real(.assertion).filter { $0.expected == "valid" }
    )
    func `a real assertion shows its fields`(_ vector: RealVector) throws {
        var arguments = InspectionArguments()
        let verifier = try Vectors.appleVerifier()
        let open = verifier.inspectAssertion(vector.objectBytes, arguments, engine: OpenSSLEngine())
        #expect(open.reason == nil)
        #expect(open.checks.filter { $0.outcome == .notJudged(nil) }.map(\.name) == ["key", "signature", "app ID"])
        arguments.clientDataHash = try vector.assertionHash()
        arguments.key = try vector.key()
        let full = verifier.inspectAssertion(vector.objectBytes, arguments, engine: OpenSSLEngine())
        #expect(full.reason == nil)
        #expect(full.fields == open.fields)
        let counter = full.fields.first { $0.name == "authData.counter" }
        #expect(counter?.value == .number(Int64(try #require(vector.counter))))
        arguments.key = MadeLeaf.baseKey
        let wrong = verifier.inspectAssertion(vector.objectBytes, arguments, engine: OpenSSLEngine())
        #expect(wrong.reason == "signature-invalid")
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_123, "2000-02-29T00:00:00.123Z"),
            (1_796_169_600_000, "2026-12-02T00:00:00Z"), (253_402_300_799_000, "9999-12-31T23:59:59Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] as [(Int64, String)]
    )
    func `times are written as RFC 3339`(_ milliseconds: Int64, _ text: String) {
        #expect(ReportValue.time(EvaluationTime(milliseconds: milliseconds)).description == text)
    }

    @Test func `no time is too far away to be written`() {
        for milliseconds in [Int64.min, .max] {
            #expect(!ReportValue.time(EvaluationTime(milliseconds: milliseconds)).description.isEmpty)
        }
    }
}

extension MadeLeaf {
    fileprivate var past: [UInt8] { DER.sequence(Self.utc("200101000000Z"), Self.utc("200102000000Z")) }
}
