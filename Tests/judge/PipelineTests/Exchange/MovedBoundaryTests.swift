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
    private static let shapes: [DeviceShape] = [.ios27_0, .ios27_0_1, .macos27_0, .macos27_2]

    private static func device(_ shape: DeviceShape, seed: UInt64 = 4, category: UInt32? = nil) -> FakeDevice {
        FakeDevice(
            ca: ExchangeKit.ca,
            appID: ExchangeKit.appleAppID,
            shape: shape,
            seed: seed,
            category: category
        )
    }

    @Test(arguments: shapes, [ClientDataHashLength.standard, .any])
    func `category 3 hidden in the hash is refused`(shape: DeviceShape, length: ClientDataHashLength) throws {
        let settings = try ExchangeKit.settings {
            $0.clientDataHash = length
            $0.expectations.categories = EntryPolicy(allow: [4, 6])
        }
        let rig = try ExchangeRig(settings)
        let bad = Self.device(shape, category: 3)
        let (hash, moved) = (ExchangeKit.clientDataHash, bad.extensionMap + ExchangeKit.clientDataHash)
        let isListed = length == .standard
        #expect(try rig.send(.verifyAttestation(of: bad)).summary == "category-not-allowed")
        let time = EvaluationTime(milliseconds: ExchangeKit.start - 1000)
        let hidden = bad.attest(clientDataHash: hash, at: time, fault: .mapMoved)
        let reason = shape.setsEDFlag ? "malformed-attestation" : "receipt:client-hash-mismatch"
        #expect(
            try rig.send(.plain(.verifyAttestation, hidden, of: bad, hash: moved)).summary
                == (isListed ? "malformed-request" : reason)
        )
        // The same build's assertions, with a key that is in the ledger.
        #expect(try rig.send(.verifyAttestation(of: Self.device(shape))).summary == "accepted")
        let assertion = bad.assertion(clientDataHash: hash, counter: 1, fault: .mapMoved)
        let answers = try rig.send(.plain(.verifyAssertion, assertion, of: bad, hash: moved))
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
        let device = Self.device(shape, category: 3)
        for reason in ["category-not-allowed", "bundle-version-not-allowed"] {
            let rig = try Self.rig {
                if reason.hasPrefix("category") { $0.categories = EntryPolicy(allow: [4, 6]) }
                $0.bundleVersions = EntryPolicy(allow: ["x"])
            }
            let answers = try rig.send(.verifyAttestation(of: device))
            let evidence = try #require(answers.result?["evidence"])
            guard shape.hasBundleVersion || reason.hasPrefix("category") else { continue }
            #expect(answers.summary == reason)
            #expect(evidence["presentedCategory"]?.integer == 3)
            #expect((evidence["presentedBundleVersion"]?.string?.isEmpty == false) == shape.hasBundleVersion)
            #expect(evidence.members.count == (shape.hasBundleVersion ? 2 : 1))
        }
    }

    @Test func `an entry of a map that does not count is presented, and marked`() throws {
        for shape in [DeviceShape.ios27_0, .ios26_3] {
            let rig = try Self.rig {
                $0.categories = EntryPolicy(allow: [4], whenMissing: shape == .ios27_0 ? .refuse : .accept)
            }
            let device = Self.device(shape)
            #expect(try rig.send(.verifyAttestation(of: device)).summary == "accepted")
            let strict = try ExchangeKit.settings {
                $0.expectations.categories = EntryPolicy(allow: [4], whenMissing: .refuse)
            }
            #expect(try rig.replace(strict) == nil)
            let answers = try rig.send(.verifyAssertion(of: device, counter: 1))
            let evidence = answers.result?["evidence"]
            #expect(answers.summary == "category-missing" && (evidence == nil) == (shape == .ios26_3))
            #expect(evidence?["presentedCategory"]?.integer == (shape == .ios27_0 ? 4 : nil))
            #expect(evidence?["extensionsIgnored"]?.bool == (shape == .ios27_0 ? true : nil))
        }
    }

    @Test func `evidence says that a map was ignored`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        for (seed, shape) in [DeviceShape.ios27_0, .ios27_0_1, .ios26_3].enumerated() {
            let device = Self.device(shape, seed: UInt64(seed) + 10)
            let attested = try rig.send(.verifyAttestation(of: device)).result?["evidence"]
            #expect(attested?["extensionsIgnored"] == nil)
            #expect((attested?["validationCategory"]?.integer == 4) == shape.hasCategory)
            let asserted = try rig.send(.verifyAssertion(of: device, counter: 1)).result?["evidence"]
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
