import AppAttest
import AppCheck
import DeviceLab
import SimulationKit
import Streams
import TestKit
import Testing
internal import Threads

@testable import Pipeline

/// How a loop judges new settings and takes them, each when it may.
@Suite struct SettingsOfferTests {
    /// What the loop answered; nil = nothing yet.
    private final class Answer: Sendable {
        private let state = Locked<MissingSealingKeys??>(nil)
        var value: MissingSealingKeys?? { state.withLock { $0 } }
        func set(_ missing: MissingSealingKeys?) { state.withLock { $0 = .some(missing) } }
    }

    private static func key(of artifact: [UInt8]) -> [UInt8] { Array(artifact[33..<37]) }

    @Test func `settings offered during a restore are judged by whole ledgers`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1]))
        _ = try rig.register(FakeDevice(ExchangeKit.model, seed: 3))
        try rig.restartRestoring()
        let answer = Answer()
        rig.loop.offer(try ExchangeKit.settings(sealing: [5]), judged: answer.set)
        #expect(answer.value == nil, "the keys in use are not read yet")
        try rig.settle()
        #expect(answer.value??.ids == [SealingKeyID(of: "key-1").value])
    }

    @Test func `settings that keep every sealing key do not wait for a restore: a signing key may be revoked`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1]))
        _ = try rig.register(FakeDevice(ExchangeKit.model, seed: 3))
        try rig.restartRestoring()
        let answer = Answer()
        rig.loop.offer(try ExchangeKit.settings(sealing: [1, 5]), judged: answer.set)
        _ = try rig.loop.tick(waitMilliseconds: 0)
        #expect(answer.value == .some(nil))
        try rig.settle()
    }

    @Test func `settings that are judged change nothing until they are taken, and the work goes on`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1]))
        let first = try rig.register(FakeDevice(ExchangeKit.model, seed: 3))
        let (next, answer) = (try ExchangeKit.settings(sealing: [5, 1]), Answer())
        rig.loop.offer(next, judged: answer.set)
        let second = try rig.register(FakeDevice(ExchangeKit.model, seed: 4))
        #expect(answer.value == .some(nil))
        #expect(Self.key(of: second) == Self.key(of: first))
        let taken = Answer()
        rig.loop.take(next) { taken.set(nil) }
        let third = try rig.register(FakeDevice(ExchangeKit.model, seed: 5))
        #expect(taken.value == .some(nil) && Self.key(of: third) != Self.key(of: first))
    }

    @Test func `settings that are withdrawn leave the old ones in use`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1]))
        let first = try rig.register(FakeDevice(ExchangeKit.model, seed: 3))
        let answer = Answer()
        rig.loop.offer(try ExchangeKit.settings(sealing: [5, 1]), judged: answer.set)
        try rig.settle()
        #expect(answer.value == .some(nil))
        rig.loop.withdraw()
        rig.loop.withdraw()
        #expect(Self.key(of: try rig.register(FakeDevice(ExchangeKit.model, seed: 4))) == Self.key(of: first))
    }

    @Test func `while settings without the active sealing key are judged, no batch seals with it`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1]))
        let challenge = try rig.challenge()
        let (next, answer) = (try ExchangeKit.settings(sealing: [5]), Answer())
        rig.loop.offer(next, judged: answer.set)
        let before = rig.streams.outputs.count
        _ = rig.put(.attestation(of: FakeDevice(ExchangeKit.model, seed: 3), challenge: challenge))
        for _ in 0..<200 { _ = try rig.loop.tick(waitMilliseconds: 0) }
        #expect(answer.value == .some(nil), "no artifact is sealed with key 1")
        #expect(rig.streams.outputs.count == before, "the next batch would be the first")
        rig.loop.take(next) {}
        try rig.settle()
        let answers = try ExchangeAnswers(rig.streams.outputs[before...].filter { $0.stream != .ledger })
        #expect(Self.key(of: try #require(answers.artifact)) != Self.key(of: [UInt8](repeating: 0, count: 37)))
        #expect(try rig.replace(ExchangeKit.settings(sealing: [1]))?.ids == [SealingKeyID(of: "key-5").value])
    }

    @Test func `a partition that came with a key that judged settings lack ends the work`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [5, 1]))
        let next = try ExchangeKit.settings(sealing: [5])
        rig.loop.offer(next) { _ in }
        try rig.settle()
        var ledger = rig.loop.ledgers[0] ?? PartitionLedger()
        ledger.apply(.sealingKey(SealingKeyID(of: "key-1").value, since: EvaluationTime(milliseconds: 1)))
        rig.loop.ledgers[0] = ledger
        rig.loop.take(next) { Issue.record("taken") }
        #expect(throws: MissingSealingKeys.self) { try rig.settle() }
    }
}
