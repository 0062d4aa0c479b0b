import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Pipeline

/// `keys.expireAfter`: what is not used ends, in memory, on the topic and in every answer, and nothing else does.
@Suite("Keys that end")
struct EndedKeyTests {
    private static let day: Int64 = 86_400_000

    private static func settings(
        _ days: Int64 = 400,
        _ policy: UnknownKeyPolicy = .refuse,
        partitions: Int32 = 1
    ) throws -> PipelineSettings {
        var settings = try ExchangeKit.settings(partitions: partitions) {
            $0.unknownKeys = policy
            $0.risk.mode = .report
        }
        settings.keys.expireAfterMilliseconds = days * day
        settings.hasReceipts = true
        return settings
    }

    private static func registered(
        _ settings: PipelineSettings
    ) throws -> (rig: ExchangeRig, device: FakeDevice, artifact: [UInt8]) { try ExchangeRig.registered(settings) }

    private static func onTopic(_ device: FakeDevice, _ rig: ExchangeRig) -> Bool {
        rig.streams.compacted.contains { $0.key == [1] + device.keyID.bytes && $0.value != nil }
    }

    private static func receipt(of device: FakeDevice, _ rig: ExchangeRig) -> ExchangeRequest {
        let time = EvaluationTime(milliseconds: rig.time)
        return .receipt(device.receipt(.receipt, clientDataHash: SHA256.hash([]).bytes, at: time), of: device)
    }

    // MARK: The rule

    @Test(
        arguments: [
            // What is noted counts before the token's time, and that before the beginning of notes.
            (10, 0, nil, 10), (10, 30, 20, 10), (0, 30, 20, 30), (0, 0, 20, 20), (0, 0, nil, nil),
        ] as [(UInt32, UInt32, Int64?, Int64?)]
    )
    func `a key's use is what is noted, else its token's time, else the beginning of notes`(
        lastUse: UInt32,
        issuedAt: UInt32,
        since: Int64?,
        use: Int64?
    ) {
        let since = since.map { EvaluationTime(seconds: $0) }
        let found = KeySettings.use(lastUse, issuedAt: issuedAt, usesSince: since)
        #expect(found == use.map { EvaluationTime(seconds: $0) })
        var settings = KeySettings()
        let late = EvaluationTime(milliseconds: .max / 2)
        #expect(!settings.hasEnded(found, at: late), "never, unless it is set")
        settings.expireAfterMilliseconds = 5_000
        #expect(settings.hasEnded(found, at: late) == (use != nil))
        guard let use else { return }
        let end = use * 1000 + 5_999
        #expect(!settings.hasEnded(found, at: EvaluationTime(milliseconds: end)), "its second counts whole")
        #expect(settings.hasEnded(found, at: EvaluationTime(milliseconds: end + 1)))
    }

    // MARK: Answers

    @Test(arguments: [false, true])
    func `a key that is not used ends, and one that is used does not`(restarts: Bool) throws {
        var (rig, device, artifact) = try Self.registered(Self.settings())
        let other = FakeDevice(ExchangeKit.model, seed: 9)
        _ = try rig.register(other)
        for _ in 0..<4 {
            rig.time += 399 * Self.day
            if restarts { try rig.restart() }
            #expect(try rig.refresh(&device, artifact).summary == "accepted")
        }
        #expect(rig.key(other) == nil && !Self.onTopic(other, rig), "looked through by the way")
        rig.time += 401 * Self.day
        if restarts { try rig.restart() }
        let request = try rig.assertion(of: &device, artifact)
        #expect(try rig.send(request).summary == "unknown-key")
        #expect(rig.key(device) == nil && !Self.onTopic(device, rig))
        try rig.restart()
        #expect(rig.key(device) == nil)
    }

    @Test(arguments: [false, true])
    func `a key that has ended and attests again is a new one, also for a reader of the whole topic`(
        inOneBatch: Bool
    ) throws {
        var (rig, device, artifact) = try Self.registered(Self.settings())
        for _ in 0..<3 { _ = try rig.refresh(&device, artifact) }
        rig.time += 500 * Self.day
        let requests = [
            try rig.assertion(of: &device, artifact), try rig.attestation(of: device, at: rig.time - 1000),
            try rig.assertion(of: &device, artifact),
        ]
        let answers = inOneBatch ? try rig.send(requests) : try requests.map { try rig.send($0) }
        #expect(answers.map(\.summary) == ["unknown-key", "accepted", "accepted"])
        let record = try #require(rig.key(device))
        #expect(record.counter == 5 && record.registeredAt.milliseconds == rig.time)
        var whole = PartitionLedger()
        for record in rig.streams.ledger {
            whole.apply(try LedgerCodec.decode(key: record.key, value: record.value))
        }
        #expect(whole.keys[device.keyID] == record)
        try rig.restart()
        #expect(rig.key(device) == record)
    }

    @Test func `with artifacts that restore, the assertion that finds its key ended brings it back`() throws {
        var (rig, device, artifact) = try Self.registered(Self.settings(400, .restore))
        rig.time += 500 * Self.day
        let answers = try rig.refresh(&device, artifact)
        #expect(answers.result?["evidence"]?["restored"]?.bool == true)
        rig.time += 399 * Self.day
        let next = try rig.refresh(&device, artifact)
        #expect(next.verdict == "accepted" && next.result?["evidence"]?["restored"] == nil)
    }

    @Test func `a receipt is no use, a refused request is none, and a ban stays`() throws {
        var (rig, device, artifact) = try Self.registered(Self.settings())
        _ = try rig.send(rig.command(.ban, device, seed: 1))
        rig.time += 200 * Self.day
        #expect(try rig.refresh(&device, artifact).summary == "banned")
        _ = try rig.send(rig.command(.unban, device, seed: 2))
        #expect(try rig.send(Self.receipt(of: device, rig)).verdict == "accepted")
        #expect(rig.key(device)?.risk != nil)
        _ = try rig.send(rig.command(.ban, device, seed: 3))
        rig.time += 201 * Self.day
        _ = try rig.send(rig.command(.ban, FakeDevice(ExchangeKit.model, seed: 7), seed: 4))
        #expect(rig.key(device) == nil && !Self.onTopic(device, rig))
        try rig.restart()
        #expect(try rig.send(rig.attestation(of: device, at: rig.time - 1000)).summary == "banned")
    }

    @Test func `a receipt of a key that has ended is of none`() throws {
        let (rig, device, _) = try Self.registered(Self.settings())
        rig.time += 500 * Self.day
        #expect(try rig.send(Self.receipt(of: device, rig)).summary == "unknown-key")
    }

    // MARK: The setting

    @Test func `without the setting nothing is noted, and nothing ends`() throws {
        var (rig, device, artifact) = try Self.registered(Self.settings(0))
        rig.time += 4_000 * Self.day
        #expect(try rig.refresh(&device, artifact).summary == "accepted")
        #expect(rig.key(device)?.lastUse == 0 && rig.loop.ledgers[0]?.usesSince == nil)
    }

    @Test func `a key of before the setting lives as long, from its token's time or the setting on`() throws {
        var (rig, device, artifact) = try Self.registered(Self.settings(0))
        let exchanged = FakeDevice(ExchangeKit.model, seed: 5)
        _ = try rig.register(exchanged)
        let verified = FakeDevice(ExchangeKit.model, seed: 6)
        let attestation = ExchangeRequest.verifyAttestation(of: verified, at: rig.time - 1000)
        #expect(try rig.send(attestation).verdict == "accepted")
        rig.time += 300 * Self.day
        #expect(try rig.replace(Self.settings()) == nil)
        #expect(try rig.refresh(&device, artifact).summary == "accepted")
        let since = rig.time
        #expect(rig.loop.ledgers[0]?.usesSince?.milliseconds == since)
        rig.time += 101 * Self.day
        #expect(try rig.refresh(&device, artifact).summary == "accepted")
        #expect(rig.key(exchanged) == nil, "its token says when it was used")
        #expect(rig.key(verified) != nil, "of this one nothing is known")
        rig.time = since + 401 * Self.day
        #expect(try rig.refresh(&device, artifact).summary == "accepted")
        #expect(rig.key(verified) == nil)
    }

    @Test func `off and on again, the time begins anew: what was used in between was not noted`() throws {
        let (rig, device, _) = try Self.registered(Self.settings())
        #expect(rig.key(device)?.lastUse != 0)
        _ = try rig.replace(Self.settings(0))
        rig.time += 500 * Self.day
        let assertion = ExchangeRequest.verifyAssertion(of: device, counter: 20)
        #expect(try rig.send(assertion).verdict == "accepted")
        #expect(rig.key(device)?.lastUse == 0 && rig.loop.ledgers[0]?.usesSince == nil)
        _ = try rig.replace(Self.settings())
        rig.time += 399 * Self.day
        #expect(try rig.send(ExchangeRequest.verifyAssertion(of: device, counter: 21)).verdict == "accepted")
        #expect(rig.key(device)?.lastUse != 0)
    }

    @Test func `a key that has ended and is in memory still is known again when the setting goes`() throws {
        var (rig, device, artifact) = try Self.registered(Self.settings(0))
        rig.time += 500 * Self.day
        _ = try rig.replace(Self.settings())
        _ = try rig.replace(Self.settings(0))
        #expect(try rig.refresh(&device, artifact).summary == "accepted")
    }

    // MARK: Looking through

    @Test func `few keys go with a batch, and all of them in time; the counts say how many`() throws {
        let settings = try Self.settings()
        let rig = try ExchangeRig(settings)
        var ledger = PartitionLedger()
        let (count, app) = (3_000, ExchangeKit.name)
        var samples = RecordSamples(seed: 1)
        for number in 0..<count {
            var record = LedgerCodecTests.full
            (record.app, record.lastUse) = (number % 2 == 0 ? app : nil, number < 2_000 ? 10 : UInt32(rig.time / 1000))
            ledger.keys.set(KeyID(samples.digest()), record)
        }
        rig.loop.ledgers[0] = ledger
        var most = 0
        for _ in 0..<400 where rig.loop.ledgers[0]?.keys.count ?? 0 > 1_000 {
            let before = rig.loop.ledgers[0]?.keys.count ?? 0
            _ = try rig.challenge()
            most = max(most, before - (rig.loop.ledgers[0]?.keys.count ?? 0))
        }
        #expect(rig.loop.ledgers[0]?.keys.count == 1_000 && most == 16)
        #expect(rig.loop.tally.endedKeys == [app: 1_000, "": 1_000])
        for _ in 0..<100 { _ = try rig.challenge() }
        #expect(rig.loop.ledgers[0]?.endedKeys == 0 && rig.loop.ledgers[0]?.keys.count == 1_000)
        #expect(rig.streams.ledger.count { $0.key.first == 1 && $0.value == nil } == 2_000)
    }
}
