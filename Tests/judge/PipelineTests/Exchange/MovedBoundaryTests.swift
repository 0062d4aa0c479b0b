import AppAttest
import AppCheck
import DeviceLab
import JSON
import SimulationKit
import Streams
import TestKit
import Testing

/// Signed bytes cut at another place: verifyAttestation and verifyAssertion take the hash as bytes.
@Suite struct MovedBoundaryTests {
    private static func send(
        _ verb: Verb,
        _ object: [UInt8],
        of device: FakeDevice,
        hash: [UInt8],
        _ rig: ExchangeRig
    ) throws -> ExchangeAnswers {
        let value = RequestRecords.value(
            verb: verb,
            object: object,
            keyID: device.keyID,
            clientDataHash: hash,
            path: "v1/\(ExchangeKit.resource)"
        )
        return try rig.send(ExchangeRequest(value, key: device.keyID.recordKey))
    }

    private static let hash = [UInt8](repeating: 9, count: 32)
    private static let time = EvaluationTime(milliseconds: ExchangeKit.start - 1000)
    private static let shapes: [DeviceShape] = [.ios27_0, .ios27_0_1, .macos27_0, .macos27_2]

    @Test(arguments: shapes, [ClientDataHashLength.standard, .any])
    func `category 3 hidden in the hash is refused`(shape: DeviceShape, length: ClientDataHashLength) throws {
        let settings = try ExchangeKit.settings {
            $0.clientDataHash = length
            $0.expectations.categories = EntryPolicy(allow: [4, 6])
        }
        let rig = try ExchangeRig(settings)
        let (ca, appID) = (ExchangeKit.ca, ExchangeKit.appleAppID)
        let bad = FakeDevice(ca: ca, appID: appID, shape: shape, seed: 4, category: 3)
        let moved = bad.extensionMap + Self.hash
        let isListed = length == .standard
        let plain = bad.attest(clientDataHash: Self.hash, at: Self.time)
        #expect(
            try Self.send(.verifyAttestation, plain, of: bad, hash: Self.hash, rig).summary == "category-not-allowed"
        )
        let hidden = bad.attest(clientDataHash: Self.hash, at: Self.time, fault: .mapMoved)
        let reason = shape.setsEDFlag ? "malformed-attestation" : "receipt:client-hash-mismatch"
        #expect(
            try Self.send(.verifyAttestation, hidden, of: bad, hash: moved, rig).summary
                == (isListed ? "malformed-request" : reason)
        )
        // The same build's assertions, with a key that is in the ledger.
        let good = FakeDevice(ca: ca, appID: appID, shape: shape, seed: 4)
        #expect(
            try Self.send(
                .verifyAttestation,
                good.attest(clientDataHash: Self.hash, at: Self.time),
                of: good,
                hash: Self.hash,
                rig
            ).summary == "accepted"
        )
        let assertion = bad.assertion(clientDataHash: Self.hash, counter: 1, fault: .mapMoved)
        let answers = try Self.send(.verifyAssertion, assertion, of: bad, hash: moved, rig)
        // An app that takes any hash from devices that set no flag has to ask for the category to have it.
        let open = shape.setsEDFlag ? "malformed-assertion" : "accepted"
        #expect(answers.summary == (isListed ? "malformed-request" : open))
        #expect(answers.code == (isListed ? 400 : shape.setsEDFlag ? 403 : 200))
    }

    private static func rig(_ rule: (inout Expectations) -> Void) throws -> ExchangeRig {
        try ExchangeRig(ExchangeKit.settings { rule(&$0.expectations) })
    }

    @Test(arguments: [DeviceShape.ios27_0, .ios27_0_1, .macos27_2])
    func `a refusal by category or bundle version says what was presented`(shape: DeviceShape) throws {
        let device = FakeDevice(ca: ExchangeKit.ca, appID: ExchangeKit.appleAppID, shape: shape, seed: 4, category: 3)
        let object = device.attest(clientDataHash: Self.hash, at: Self.time)
        for reason in ["category-not-allowed", "bundle-version-not-allowed"] {
            let rig = try Self.rig {
                if reason.hasPrefix("category") { $0.categories = EntryPolicy(allow: [4, 6]) }
                $0.bundleVersions = EntryPolicy(allow: ["x"])
            }
            let answers = try Self.send(.verifyAttestation, object, of: device, hash: Self.hash, rig)
            let evidence = try #require(answers.result?["evidence"])
            guard shape.hasBundleVersion || reason.hasPrefix("category") else { continue }
            #expect(answers.summary == reason)
            #expect(evidence["presentedCategory"]?.integer == 3)
            #expect((evidence["presentedBundleVersion"]?.string?.isEmpty == false) == shape.hasBundleVersion)
            #expect(evidence.members.count == (shape.hasBundleVersion ? 2 : 1))
        }
    }

    @Test func `an entry of a map that does not count is presented, and marked`() throws {
        let (ca, appID) = (ExchangeKit.ca, ExchangeKit.appleAppID)
        for shape in [DeviceShape.ios27_0, .ios26_3] {
            let rig = try Self.rig {
                $0.categories = EntryPolicy(allow: [4], whenMissing: shape == .ios27_0 ? .refuse : .accept)
            }
            let device = FakeDevice(ca: ca, appID: appID, shape: shape, seed: 4)
            let object = device.attest(clientDataHash: Self.hash, at: Self.time)
            #expect(try Self.send(.verifyAttestation, object, of: device, hash: Self.hash, rig).summary == "accepted")
            let strict = try ExchangeKit.settings {
                $0.expectations.categories = EntryPolicy(allow: [4], whenMissing: .refuse)
            }
            #expect(try rig.replace(strict) == nil)
            let assertion = device.assertion(clientDataHash: Self.hash, counter: 1)
            let answers = try Self.send(.verifyAssertion, assertion, of: device, hash: Self.hash, rig)
            let evidence = answers.result?["evidence"]
            #expect(answers.summary == "category-missing" && (evidence == nil) == (shape == .ios26_3))
            #expect(evidence?["presentedCategory"]?.integer == (shape == .ios27_0 ? 4 : nil))
            #expect(evidence?["extensionsIgnored"]?.bool == (shape == .ios27_0 ? true : nil))
        }
    }

    @Test func `evidence says that a map was ignored`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let (ca, appID) = (ExchangeKit.ca, ExchangeKit.appleAppID)
        for (seed, shape) in [DeviceShape.ios27_0, .ios27_0_1, .ios26_3].enumerated() {
            let device = FakeDevice(ca: ca, appID: appID, shape: shape, seed: UInt64(seed) + 10)
            func evidence(_ verb: Verb, _ object: [UInt8]) throws -> JSONNode? {
                try Self.send(verb, object, of: device, hash: Self.hash, rig).result?["evidence"]
            }
            let attested = try evidence(.verifyAttestation, device.attest(clientDataHash: Self.hash, at: Self.time))
            #expect(attested?["extensionsIgnored"] == nil)
            #expect((attested?["validationCategory"]?.integer == 4) == shape.hasCategory)
            let asserted = try evidence(
                .verifyAssertion,
                device.assertion(clientDataHash: Self.hash, counter: 1)
            )
            #expect((asserted?["extensionsIgnored"]?.bool == true) == (shape == .ios27_0))
            #expect((asserted?["validationCategory"]?.integer == 4) == (shape == .ios27_0_1))
        }
    }
}

/// Headers of a dead letter that its sender wrote.
@Suite struct DeadLetterHeaderTests {
    @Test func `a dead letter drops the record's own dlq headers and keeps all others`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let kept = ["x-dlq.reason", "DLQ.reason", "dlq"].map { RecordHeader($0, "kept") }
        let foreign = ["dlq.reason", "dlq.partition", "dlq.truncated", "dlq.sha256", "dlq.", "dlq.anything"]
        let request = ExchangeRequest(Array("no JSON".utf8)).with(
            headers: foreign.map { RecordHeader($0, "forged") } + kept + [RecordHeader(name: [0xFF], value: nil)]
        )
        let answers = try rig.send(request)
        let letter = try #require(answers.outputs.first { $0.stream == .deadLetters })
        func values(_ name: String) -> [String] {
            letter.headers.filter { $0.name == Array(name.utf8) }
                .map { String(decoding: $0.value ?? [], as: UTF8.self) }
        }
        #expect(values("dlq.reason") == ["not-json"] && values("dlq.partition") == ["0"])
        for name in foreign.dropFirst(2) { #expect(values(name).isEmpty) }
        #expect(kept.allSatisfy { letter.headers.contains($0) })
        #expect(letter.headers.contains(RecordHeader(name: [0xFF], value: nil)))
        #expect(!letter.headers.contains { $0.value == Array("forged".utf8) })
    }
}
