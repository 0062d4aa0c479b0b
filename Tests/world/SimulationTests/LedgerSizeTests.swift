import AppAttest
import AppCheck
import Crypto
import DeviceLab
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Pipeline

/// Consumed ids come and go; the ledger topic and the memory hold those that still count, and little more.
@Suite("The ledger's size")
struct LedgerSizeTests {
    private static let perBatch = 20
    private static let life: Int64 = 300_000
    private static let pace: Int64 = 10_000
    private static let decoder = Result {
        DecodeStage(settings: PipelineSettings(registry: try RequestRecords.registry()))
    }
    private static let value = RequestRecords.assertion(
        of: FakeDevice(ca: LabCA(seed: 7, signer: OracleSigner()), appID: "ABCDE12345.com.example.app", seed: 1),
        counter: 1
    )
    private static let key = FakeDevice(
        ca: LabCA(seed: 7, signer: OracleSigner()),
        appID: "ABCDE12345.com.example.app",
        seed: 1
    ).keyID.recordKey

    private static func time(_ batch: Int) -> EvaluationTime {
        EvaluationTime(milliseconds: RequestRecords.time + Int64(batch) * pace)
    }

    private static func id(_ batch: Int, _ number: Int) -> Digest { SHA256.hash(Array("\(batch) \(number)".utf8)) }

    /// One batch's effect on a partition: ids are consumed, time advances, ids expire.
    private static func overlay(_ batch: Int, ledger: PartitionLedger) throws -> LedgerOverlay {
        var overlay = LedgerOverlay()
        for number in 0..<perBatch {
            let expiry = EvaluationTime(milliseconds: time(batch).milliseconds + life)
            let consumed = ConsumedID(expiresAt: expiry, request: id(batch, number))
            switch number % 3 {
            case 0: overlay[0].challenges[id(batch, number)] = consumed
            case 1: overlay[0].tokens[id(batch, number)] = consumed
            default: overlay[0].bans[id(batch, number)] = Ban(.key, since: time(batch), until: expiry)
            }
        }
        let record = InboundRecord(
            topic: "appattest.requests",
            partition: 0,
            offset: Int64(batch),
            timestamp: time(batch).milliseconds,
            key: key,
            value: value
        )
        var clock = StreamClock()
        for decoded in try decoder.get().decode([.record(record)], now: nil).records { clock.note(decoded) }
        clock.write(into: &overlay, forgetsBans: true) { _ in ledger }
        return overlay
    }

    private static func restored(_ log: PartitionLog) throws -> PartitionLedger {
        var ledger = PartitionLedger()
        for record in log.visible {
            ledger.apply(try LedgerCodec.decode(key: record.key ?? [], value: record.value))
        }
        return ledger
    }

    private static func remembered(_ ledger: PartitionLedger) -> Int { ledger.consumedCount + ledger.bans.count }

    @Test func `topic and memory stay bounded under endless new ids, restarts included`() throws {
        var (ledger, log) = (PartitionLedger(), PartitionLog())
        // Those that live, and those that wait in their bucket and for the next batch.
        let most = Self.perBatch * (Int(Self.life / Self.pace) + 3)
        for batch in 0..<400 {
            let overlay = try Self.overlay(batch, ledger: ledger)
            for (partition, change) in overlay.changes() {
                log.append(OutboundRecord(change, partition: partition), transaction: nil)
            }
            ledger.apply(overlay[0])
            #expect(Self.remembered(ledger) <= most)
            guard batch % 40 == 39 else { continue }
            log.compact()
            // A worker that starts now restores this one's state.
            let other = try Self.restored(log)
            #expect(Self.remembered(other) == Self.remembered(ledger))
            log.compact(dropsTombstones: true)
            // The living, and the stream time.
            #expect(log.visible.count <= most + 1)
            ledger = try Self.restored(log)
        }
        #expect(Self.remembered(ledger) >= Self.perBatch * Int(Self.life / Self.pace))
    }

    @Test func `an id is remembered for its whole life, and a restored stream time is past a forgotten one`() throws {
        var (ledger, log) = (PartitionLedger(), PartitionLog())
        for batch in 0..<60 {
            let overlay = try Self.overlay(batch, ledger: ledger)
            for (partition, change) in overlay.changes() {
                log.append(OutboundRecord(change, partition: partition), transaction: nil)
            }
            ledger.apply(overlay[0])
            for age in 0..<Int(Self.life / Self.pace) where age <= batch {
                #expect(ledger.challenges[Self.id(batch - age, 0)] != nil)
                #expect(ledger.tokens[Self.id(batch - age, 1)] != nil)
                #expect(ledger.bans[Self.id(batch - age, 2)] != nil)
            }
        }
        #expect(ledger.challenges[Self.id(0, 0)] == nil && ledger.bans[Self.id(0, 2)] == nil)
        let other = try Self.restored(log)
        #expect(other.challenges[Self.id(0, 0)] == nil && other.bans[Self.id(0, 2)] == nil)
        // Written together with the removals: if an id was removed, the stream time is past its life.
        #expect(other.streamTime.milliseconds >= Self.time(0).milliseconds + Self.life)
    }
}
