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

/// Key records as versions with and without the risk metric write and read them.
@Suite("The risk metric and other versions")
struct RiskVersionTests {
    private static let id = plain.publicKey.map { KeyID(of: $0) } ?? LedgerCodecTests.id
    private static let plain = LedgerCodecTests.full

    private static var rated: KeyRecord {
        var record = plain
        record.risk = RiskMetric(7, createdAt: 1_790_000_000)
        return record
    }

    private static func value(_ record: KeyRecord) throws -> [UInt8] {
        try #require(LedgerCodec.encode(.key(id, record)).value)
    }

    /// A field that this version does not know is to it what the metric is to the versions before.
    @Test func `a record with a later version's field is read by the general decoder, and loses it at the next write`()
        throws
    {
        let known = try Self.value(Self.rated)
        let later = [known[0] + 1] + known.dropFirst() + [0x0F, 0x82, 0x01, 0x02]
        let isPlain = [later, known].map { PlainKeyRecord($0.span, in: $0.indices) != nil }
        #expect(isPlain == [false, true], "the fast decoder leaves it")
        let record = try #require(try LedgerCodecTests.decoded(later))
        #expect(try Self.value(record) == known)
        var ledger = KeyLedger()
        let isSet = ledger.setPlain(Self.id, later.span, in: later.indices)
        #expect(!isSet)
        ledger.set(Self.id, record, mayBeLate: true)
        #expect(ledger[Self.id] == Self.rated)
    }

    @Test func `what a version without metrics writes over a metric takes it away`() throws {
        var ledger = KeyLedger()
        ledger.set(Self.id, Self.rated, mayBeLate: true)
        let before = try Self.value(Self.plain)
        let isSet = ledger.setPlain(Self.id, before.span, in: before.indices)
        #expect(isSet)
        #expect(ledger[Self.id]?.risk == nil && ledger[Self.id] == Self.plain)
    }

    private static func receipt(of device: FakeDevice, at time: Int64) -> ExchangeRequest {
        let time = EvaluationTime(milliseconds: time)
        return .receipt(device.receipt(.receipt, clientDataHash: ExchangeKit.clientDataHash, at: time), of: device)
    }

    /// A worker that serves no receipts is to a group what one of a version before is.
    @Test func `between workers that keep receipts, one that does not costs a visit and the receipt, and no metric`()
        throws
    {
        var keeping = try ExchangeKit.settings { $0.risk.mode = .report }
        keeping.hasReceipts = true
        let rig = try ExchangeRig(keeping)
        var without = rig.settings
        without.registry = try ExchangeKit.settings().registry
        without.hasReceipts = false
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        #expect(try rig.send(.verifyAttestation(of: device, at: rig.time - 5_000)).verdict == "accepted")
        #expect(try rig.send(Self.receipt(of: device, at: rig.time - 4_000)).verdict == "accepted")
        let metric = try #require(rig.key(device)?.risk)
        try rig.restart(without)
        let visit = try rig.send(Self.receipt(of: device, at: rig.time - 3_000))
        #expect(visit.reason == "unknown-method" && visit.code == 400)
        let again = try rig.send(
            .verifyAttestation(of: device, hash: [UInt8](repeating: 2, count: 32), at: rig.time - 2_000)
        )
        #expect(again.verdict == "accepted")
        for answers in [visit, again] { #expect(answers.outputs.allSatisfy { $0.stream != .receipts }) }
        #expect(rig.key(device)?.risk == metric)
        try rig.restart(keeping)
        let next = try rig.send(Self.receipt(of: device, at: rig.time - 1_000))
        #expect(next.verdict == "accepted" && next.event?["previousMetric"]?.integer == Int64(metric.value))
        #expect(next.outputs.contains { $0.stream == .receipts && $0.value != nil })
    }
}
