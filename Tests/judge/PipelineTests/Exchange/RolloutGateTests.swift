import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite struct RolloutGateTests {
    private static func settings(
        _ mode: Rollout.Mode,
        _ parts: Int64,
        seed: String = "s1"
    ) throws -> PipelineSettings {
        try ExchangeKit.settings { $0.rollout = Rollout(mode: mode, parts: parts, seed: seed) }
    }

    private static func headers(_ installation: String?, handshake: String? = nil) -> [RecordHeader] {
        [installation.map { RecordHeader("installation-id", $0) }, handshake.map { RecordHeader("handshake", $0) }]
            .compactMap(\.self)
    }

    /// An id whose bucket under seed s1 is at or below, or above, `parts`.
    private static func installation(within parts: Int64, _ isWithin: Bool) throws -> String {
        let ids = (0..<10_000).map { "installation-\($0)" }
        return try #require(ids.first { (Rollout.bucket(seed: "s1", id: ExactText($0)) <= parts) == isWithin })
    }

    private static func attest(
        _ rig: ExchangeRig,
        _ device: FakeDevice,
        _ installation: String?
    ) throws -> ExchangeAnswers {
        try rig.send(rig.attestation(of: device).with(headers: headers(installation)))
    }

    private static func percent(_ answers: ExchangeAnswers) -> String? { answers.event?["percent"]?.numberText }

    @Test(arguments: [Rollout.Mode.off, .shadow])
    func `off and shadow admit all, and only shadow decides and reports`(mode: Rollout.Mode) throws {
        let rig = try ExchangeRig(Self.settings(mode, 0))
        let answers = try Self.attest(rig, FakeDevice(ExchangeKit.model, seed: 3), "x")
        #expect(answers.eventName == "AppAttestSuccess" && answers.verdict == "accepted")
        let bucket = Rollout.bucket(seed: "s1", id: "x")
        #expect(answers.event?["bucket"]?.integer == (mode == .off ? nil : bucket))
        #expect(Self.percent(answers) == (mode == .off ? nil : "0"))
    }

    @Test(arguments: [
        (Int64(0), "always", true), (100_000_000, "never", false), (0, "", false), (100_000_000, "", true),
    ])
    func `test devices are in or out whatever the share`(parts: Int64, list: String, isAdmitted: Bool) throws {
        let digests: Set<Digest> = [SHA256.hash(Array("tester".utf8))]
        let rig = try ExchangeRig(
            ExchangeKit.settings {
                let (always, never) = (list == "always" ? digests : [], list == "never" ? digests : [])
                $0.rollout = Rollout(mode: .on, parts: parts, seed: "s1", always: always, never: never)
            }
        )
        let answers = try Self.attest(rig, FakeDevice(ExchangeKit.model, seed: 3), "tester")
        #expect(answers.summary == (isAdmitted ? "accepted" : "rollout-not-admitted"))
        let other = try Self.attest(rig, FakeDevice(ExchangeKit.model, seed: 4), "another")
        #expect(other.summary == (parts > 0 ? "accepted" : "rollout-not-admitted"))
    }

    @Test(arguments: [true, false])
    func `on admits the share by the header installation-id, and refuses the rest with 429`(isWithin: Bool) throws {
        let parts: Int64 = 12_500_001
        let rig = try ExchangeRig(Self.settings(.on, parts))
        let id = try Self.installation(within: parts, isWithin)
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let answers = try Self.attest(rig, device, id)
        #expect(answers.summary == (isWithin ? "accepted" : "rollout-not-admitted"))
        #expect(answers.code == (isWithin ? 200 : 429))
        #expect(answers.eventName == (isWithin ? "AppAttestSuccess" : "AppAttestNotAdmitted"))
        #expect(answers.event?["bucket"]?.integer == Rollout.bucket(seed: "s1", id: ExactText(id)))
        #expect(Self.percent(answers) == "12.500001")
        #expect((rig.key(device) != nil) == isWithin)
    }

    @Test func `without the header the key ID's text stands in`() throws {
        let rig = try ExchangeRig(Self.settings(.on, 50_000_000))
        for seed in UInt64(0)..<6 {
            let device = FakeDevice(ExchangeKit.model, seed: seed)
            let bucket = Rollout.bucket(
                seed: "s1",
                id: ExactText(String(decoding: device.keyID.recordKey, as: UTF8.self))
            )
            let answers = try Self.attest(rig, device, nil)
            #expect(answers.event?["bucket"]?.integer == bucket)
            #expect(answers.summary == (bucket <= 50_000_000 ? "accepted" : "rollout-not-admitted"))
        }
    }

    @Test func `not admitted is never a failure, even with an invalid object, and consumes nothing`() throws {
        let (rig, device) = try ExchangeRig.fresh(Self.settings(.on, 0))
        let challenge = try rig.challenge()
        let bad = ExchangeRequest.attestation(of: device, challenge: challenge, fault: .nonceFlipped)
        let unsealed = ExchangeRequest.attestation(of: device, challenge: [1, 2])
        for answers in try rig.send([bad, unsealed]) {
            #expect(answers.reason == "rollout-not-admitted" && answers.code == 429)
            #expect(answers.result?["status"]?["status"]?.string == "RESOURCE_EXHAUSTED")
            #expect(answers.eventName == "AppAttestNotAdmitted")
        }
        let good = ExchangeRequest.attestation(of: device, challenge: challenge)
        #expect(try rig.send(good).reason == "rollout-not-admitted")
        #expect(try rig.replace(Self.settings(.on, Rollout.whole)) == nil)
        #expect(try rig.send(good).verdict == "accepted")
    }

    @Test func `not admitted is never a failure, whatever the record's time is`() throws {
        let rig = try ExchangeRig(Self.settings(.on, 0))
        let challenge = try rig.challenge()
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        for distance in [-rig.settings.clock.maxAgeMilliseconds - 1, rig.settings.clock.maxAheadMilliseconds + 1] {
            let request = ExchangeRequest.attestation(of: device, challenge: challenge).at(rig.time + distance)
            let answers = try rig.send(request)
            #expect(answers.reason == "rollout-not-admitted" && answers.eventName == "AppAttestNotAdmitted")
        }
    }

    @Test func `a key in the ledger always passes: attested again, and its assertions`() throws {
        var (rig, device) = try ExchangeRig.fresh(Self.settings(.on, Rollout.whole))
        let artifact = try #require(Self.attest(rig, device, "x").artifact)
        #expect(try rig.replace(Self.settings(.on, 0)) == nil)
        let again = try Self.attest(rig, device, "x")
        #expect(again.verdict == "accepted" && again.event?["bucket"] == nil)
        #expect(try rig.refresh(&device, artifact).verdict == "accepted")
        #expect(try Self.attest(rig, FakeDevice(ExchangeKit.model, seed: 4), "x").code == 429)
    }

    @Test(arguments: [
        (nil, nil, true), ("x", nil, true), (nil, "attestation", true), ("x", "assertion", true),
        ("x", "Attestation", true), ("", "attestation", true), ("x", "attestation", false),
    ])
    func `a challenge is gated if both headers say that an attestation follows`(
        installation: String?,
        handshake: String?,
        isMade: Bool
    ) throws {
        let rig = try ExchangeRig(Self.settings(.on, 0))
        let headers = Self.headers(installation, handshake: handshake)
        let answers = try rig.send(ExchangeRequest.challenge().with(headers: headers))
        #expect(answers.summary == (isMade ? "accepted" : "rollout-not-admitted"))
        #expect((answers.challenge != nil) == isMade)
        // Events are the two exchanges' alone.
        #expect(answers.event == nil)
    }

    @Test func `a client outside the share is stopped at its challenge: one call, one key, exponential backoff`() throws
    {
        let rig = try ExchangeRig(Self.settings(.on, 0))
        var client = StockClient(ExchangeKit.model, resource: ExchangeKit.resource, seed: 5)
        let served = try rig.serve(&client)
        #expect(served.outcomes == [.refused(status: 429)])
        #expect(served.calls.map(\.kind) == [.challengeForAttestation])
        #expect(client.keysMade == 1)
        let next = try rig.serve(&client)
        guard case .backingOff(let end)? = next.outcomes.first else { return #expect(Bool(false), "backs off") }
        #expect((1000...1500).contains(end.milliseconds - rig.time))
        // Once admitted, it continues with its key.
        #expect(try rig.replace(Self.settings(.on, Rollout.whole)) == nil)
        rig.time += 1500
        #expect(try rig.serve(&client).token != nil)
        #expect(client.keysMade == 1)
    }
}
