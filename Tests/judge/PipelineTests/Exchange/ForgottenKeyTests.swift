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

/// `forget`: nothing of the key is left, in memory and on the topic, and what comes back is the device's own doing.
@Suite("Forgotten keys")
struct ForgottenKeyTests {
    private static func registered(
        _ policy: UnknownKeyPolicy
    ) throws -> (rig: ExchangeRig, device: FakeDevice, artifact: [UInt8]) {
        try ExchangeRig.registered(ExchangeKit.settings { $0.unknownKeys = policy })
    }

    /// The ledger's records that hold these bytes.
    private static func traces(_ bytes: [UInt8], _ rig: ExchangeRig) -> Int {
        rig.streams.compacted.count { $0.key.contains(bytes) || ($0.value ?? []).contains(bytes) }
    }

    @Test func `a forgotten key is unknown, and the compacted topic has no trace of it`() throws {
        var (rig, device, artifact) = try Self.registered(.refuse)
        #expect(try rig.refresh(&device, artifact).summary == "accepted")
        let (id, point) = (device.keyID.bytes, device.publicKey.x.bytes)
        #expect(Self.traces(id, rig) == 1 && Self.traces(point, rig) == 1)
        #expect(try rig.send(rig.command(.forget, device, seed: 1)).summary == "accepted")
        #expect(Self.traces(id, rig) == 0 && Self.traces(point, rig) == 0)
        #expect(rig.key(device) == nil && rig.loop.ledgers[0]?.keys.count == 0)
        #expect(try rig.refresh(&device, artifact).summary == "unknown-key")
        try rig.restart()
        #expect(rig.key(device) == nil)
        #expect(try rig.refresh(&device, artifact).summary == "unknown-key")
        // Once more is as good as once.
        #expect(try rig.send(rig.command(.forget, device, seed: 2)).summary == "accepted")
    }

    @Test func `its last request is no duplicate any more, and its challenges stay used`() throws {
        var (rig, device, artifact) = try Self.registered(.restore)
        let last = try rig.assertion(of: &device, artifact).with(id: "r1")
        #expect(try rig.send(last).summary == "accepted")
        _ = try rig.send(rig.command(.forget, device, seed: 1))
        #expect(try rig.send(last).summary == "challenge-consumed", "nothing is accepted twice")
        #expect(rig.key(device) == nil)
    }

    @Test func `the device's own artifact brings the key back where apps.json restores, as a new record`() throws {
        var (rig, device, artifact) = try Self.registered(.restore)
        _ = try rig.send(rig.command(.forget, device, seed: 1))
        let restored = try rig.refresh(&device, artifact)
        #expect(restored.result?["evidence"]?["restored"]?.bool == true)
        // A ban that outlives the key prevents it.
        _ = try rig.send(rig.command(.ban, device, seed: 2))
        var keeping = OperatorCommand.sample(.forget, .key(device.keyID), at: rig.time, seed: 3)
        keeping.keepsBan = true
        #expect(try rig.send(.command(keeping, rig.settings.exchange.keys)).summary == "accepted")
        #expect(Self.traces(device.keyID.bytes, rig) == 0, "a ban is a hash")
        try rig.restart()
        #expect(try rig.refresh(&device, artifact).summary == "banned")
        // Without the option it goes with the key.
        #expect(try rig.send(rig.command(.forget, device, seed: 4)).summary == "accepted")
        #expect(rig.loop.ledgers[0]?.bans.isEmpty == true)
        #expect(try rig.refresh(&device, artifact).summary == "accepted")
    }

    @Test(arguments: [false, true])
    func `a forgotten key that attests again starts from counter 0, also for a reader of the whole topic`(
        inOneBatch: Bool
    ) throws {
        var (rig, device, artifact) = try Self.registered(.refuse)
        for _ in 0..<3 { _ = try rig.refresh(&device, artifact) }
        #expect(rig.key(device)?.counter == 3)
        let requests = [try rig.command(.forget, device), try rig.attestation(of: device)]
        let answers = inOneBatch ? try rig.send(requests) : try requests.map { try rig.send($0) }
        #expect(answers.map(\.summary) == ["accepted", "accepted"])
        #expect(rig.key(device)?.counter == 0)
        // A restore never lowers a counter: without the tombstone between them the old record would win.
        var whole = PartitionLedger()
        for record in rig.streams.ledger {
            whole.apply(try LedgerCodec.decode(key: record.key, value: record.value))
        }
        #expect(whole.keys[device.keyID] == rig.key(device))
        try rig.restart()
        #expect(rig.key(device)?.counter == 0)
    }

    @Test func `in one batch the key is known before the command, and unknown after it`() throws {
        var (rig, device, artifact) = try Self.registered(.refuse)
        let requests = [
            try rig.assertion(of: &device, artifact), try rig.command(.forget, device),
            try rig.assertion(of: &device, artifact),
        ]
        #expect(try rig.send(requests).map(\.summary) == ["accepted", "accepted", "unknown-key"])
    }
}
