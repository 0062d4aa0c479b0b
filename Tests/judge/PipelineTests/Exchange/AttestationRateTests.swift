import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite struct AttestationRateTests {
    private static func settings(_ rate: Int, partitions: Int32 = 1) throws -> PipelineSettings {
        try ExchangeKit.settings(partitions: partitions) { $0.attestationsPerSecond = rate }
    }

    private static func attestations(_ rig: ExchangeRig, _ seeds: Range<UInt64>) throws -> [ExchangeAnswers] {
        let challenge = try rig.challenge()
        return try rig.send(
            seeds.map { .attestation(of: FakeDevice(ExchangeKit.model, seed: $0), challenge: challenge) }
        )
    }

    @Test func `the configured rate of attestations passes per second, the rest gets 429 without a failure`() throws {
        let rig = try ExchangeRig(Self.settings(3))
        let answers = try Self.attestations(rig, 0..<5)
        #expect(
            answers.map(\.summary) == Array(repeating: "accepted", count: 3) + ["attestation-rate", "attestation-rate"]
        )
        #expect(answers[4].code == 429)
        #expect(answers[4].eventName == "AppAttestNotAdmitted")
        #expect(answers[4].event?["reason"]?.string == "attestation-rate")
        rig.time += 1000
        #expect(try Self.attestations(rig, 3..<6).map(\.summary) == Array(repeating: "accepted", count: 3))
    }

    @Test func `refused attestations and keys in the ledger do not count against the rate`() throws {
        let (rig, device) = try ExchangeRig.fresh(Self.settings(1))
        let (first, second) = (try rig.challenge(), try rig.challenge())
        let answers = try rig.send([
            .attestation(of: FakeDevice(ExchangeKit.model, seed: 4), challenge: first, fault: .nonceFlipped),
            .attestation(of: device, challenge: first), .attestation(of: device, challenge: second),
            .attestation(of: FakeDevice(ExchangeKit.model, seed: 5), challenge: first),
        ])
        #expect(answers.map(\.summary) == ["nonce-mismatch", "accepted", "accepted", "attestation-rate"])
    }

    @Test func `partitions share the rate, and together do not exceed it`() throws {
        let rig = try ExchangeRig(Self.settings(4, partitions: 2), partitions: 2)
        let answers = try Self.attestations(rig, 0..<16)
        let accepted = answers.filter { $0.verdict == "accepted" }
        #expect(accepted.count == 4)
        let partitions = accepted.compactMap { $0.result?["source"]?["partition"]?.integer }
        #expect(partitions.count { $0 == 0 } == 2)
    }

    @Test func `a new worker continues to count where the old one stopped`() throws {
        let rig = try ExchangeRig(Self.settings(2))
        #expect(try Self.attestations(rig, 0..<2).map(\.summary) == ["accepted", "accepted"])
        try rig.restart()
        #expect(try Self.attestations(rig, 2..<3).map(\.summary) == ["attestation-rate"])
        #expect(rig.streams.compacted.contains { $0.key.first == LedgerTypes.rate })
        rig.time += 1000
        #expect(try Self.attestations(rig, 2..<3).map(\.summary) == ["accepted"])
    }

    @Test func `handshake challenges have their own rate, which does not reduce that of attestations`() throws {
        let rig = try ExchangeRig(Self.settings(2))
        let headers = [RecordHeader("installation-id", "x"), RecordHeader("handshake", "attestation")]
        let answers = try rig.send((0..<3).map { _ in ExchangeRequest.challenge().with(headers: headers) })
        #expect(answers.map(\.summary) == ["accepted", "accepted", "attestation-rate"])
        #expect(answers[2].code == 429 && answers[2].challenge == nil)
        #expect(try Self.attestations(rig, 0..<3).map(\.summary) == ["accepted", "accepted", "attestation-rate"])
    }

    @Test func `a replay applies no rate`() throws {
        var settings = try Self.settings(1)
        settings.exchange.partitions = 0
        let rig = try ExchangeRig(settings, isLive: false)
        #expect(try Self.attestations(rig, 0..<4).map(\.summary) == Array(repeating: "accepted", count: 4))
    }
}
