import AppCheck
import Streams
import TestKit
import Testing
internal import Threads

@testable import Pipeline

/// Remembers what was noted when its record was taken.
private final class WatchedMemory: RecordMemory {
    private let record: InboundRecord
    private let noted = Locked<[WorkItem]>([])
    private let seen = Locked<[WorkItem]>([])

    init(_ record: InboundRecord) { self.record = record }

    var notedBefore: [WorkItem] { seen.withLock { $0 } }

    func note(_ items: [WorkItem]) { noted.withLock { $0 = items } }

    func takeRecord(_ index: Int) -> InboundRecord {
        let items = noted.withLock { $0 }
        seen.withLock { $0 = items }
        return record
    }
}

@Suite("Records that lanes copy")
struct UncopiedRecordTests {
    private static let records = (0..<3 as Range<Int64>).map {
        RequestRecords.record([UInt8($0)], key: [7], offset: $0, id: "r-\($0)")
    }

    private static func stage() throws -> DecodeStage {
        DecodeStage(settings: PipelineSettings(registry: try RequestRecords.registry()))
    }

    @Test func `they are decoded as copied ones are`() throws {
        let stage = try Self.stage()
        let uncopied = stage.decode(Self.records.map { PolledRecord.uncopied(of: $0) }[...], now: nil).records
        let copied = stage.decode(Self.records.map { .record($0) }[...], now: nil).records
        #expect(uncopied.map(\.record) == Self.records && copied.map(\.record) == Self.records)
        #expect(uncopied.map(\.requestID) == copied.map(\.requestID))
        #expect(uncopied.map(\.valueDigest) == copied.map(\.valueDigest))
    }

    @Test func `poisonous ones become dead letters with all their bytes`() throws {
        let polled = Self.records.map { PolledRecord.uncopied(of: $0) }
        let poison = Poison(
            refused: [RecordPlace(Self.records[0])],
            shortened: [RecordPlace(Self.records[0])],
            crashing: [WorkItem(RecordStamp(Self.records[1]))]
        )
        let decoded = try Self.stage().decode(polled[...], now: nil, poison: poison).records
        #expect(decoded.map(\.isPoisonous) == [true, false, false])
        guard case .deadLetter(.internal) = decoded[1].shape else {
            Issue.record("it is decoded: \(decoded[1].shape)")
            return
        }
        #expect(decoded.map(\.record) == Self.records)
    }

    #if DEBUG
        @Test func `they are noted before they are copied`() throws {
            let (slot, memory) = (WorkSlot(), WatchedMemory(Self.records[2]))
            let item = WorkItem(RecordStamp(Self.records[2]))
            slot.sabotage = { _, items in memory.note(items) }
            let polled = UncopiedRecord(RecordStamp(Self.records[2]), 0, in: memory)
            let stage = try Self.stage()
            _ = slot.during(.decoding, alone: true) { stage.decode([.uncopied(polled)], now: nil, work: slot) }
            #expect(memory.notedBefore == [item])
        }
    #endif
}
