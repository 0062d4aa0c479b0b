import Streams
import TestKit
import Testing

@testable import Pipeline

@Suite("Records that crashed the process")
struct CrashSuspectsTests {
    private static func item(_ offset: Int64, partition: Int32 = 0) -> WorkItem {
        WorkItem(place: RecordPlace(partition: partition, offset: offset), timestamp: 100 + offset)
    }

    private static func record(_ offset: Int64) -> InboundRecord {
        InboundRecord(topic: "t", partition: 0, offset: offset, timestamp: 100 + offset, key: nil, value: nil)
    }

    /// Work as a slot showed it when the process crashed.
    private static func crash(_ offsets: [Int64], alone: Bool) throws -> Work {
        let slot = WorkSlot()
        let seen = slot.during(.verifying, alone: alone) { () -> Work? in
            for offset in offsets { slot.note(record(offset)) }
            if offsets.count > 1 { slot.noteAll() }
            return slot.snapshot()
        }
        return try #require(seen)
    }

    @Test(
        arguments: [
            ([], false), ([(1, true)], false), ([(1, true), (1, true)], false),
            ([(1, false), (1, true), (1, true)], true), ([(1, true), (1, true), (1, true)], true),
            ([(1, false), (1, false), (1, false)], false), ([(1, false), (1, false), (1, true)], false),
            ([(3, false), (1, true), (1, true)], true), ([(3, false), (3, false), (3, false)], false),
        ] as [([(Int, Bool)], Bool)]
    )
    func `a record is convicted after three crashes if it was alone in all but the first`(
        crashes: [(Int, Bool)],
        isConvicted: Bool
    ) throws {
        var suspects = CrashSuspects()
        for (count, alone) in crashes { suspects.add(try Self.crash((5..<5 + Int64(count)).map { $0 }, alone: alone)) }
        #expect(suspects.isConvicted(Self.item(5)) == isConvicted)
        #expect(!suspects.isConvicted(Self.item(6)), "a record that was near is innocent")
    }

    @Test func `another record at the same place is innocent`() throws {
        var suspects = CrashSuspects()
        for _ in 0..<3 { suspects.add(try Self.crash([5], alone: true)) }
        let other = WorkItem(place: Self.item(5).place, timestamp: 99)
        #expect(suspects.isConvicted(Self.item(5)) && !suspects.isConvicted(other))
    }

    @Test func `suspects before the committed positions are dropped, and no others`() {
        let counts = [Self.item(5), Self.item(6), Self.item(5, partition: 1)].map {
            ($0, CrashSuspects.Count(total: 1))
        }
        var suspects = CrashSuspects(Dictionary(uniqueKeysWithValues: counts))
        #expect(suspects.passed([PartitionPosition(partition: 0, offset: 5)]) == [])
        #expect(suspects.passed([PartitionPosition(partition: 0, offset: 6)]) == [Self.item(5)])
        #expect(Set(suspects.counts.keys) == [Self.item(6), Self.item(5, partition: 1)])
    }

    @Test func `a round is split around its suspects, and stays whole without one`() throws {
        let records = (0..<6 as Range<Int64>).map(Self.record)
        func pieces(_ suspected: [Int64]) -> [[Int64]]? {
            let counts = suspected.map { (Self.item($0), CrashSuspects.Count(total: 1)) }
            return CrashSuspects(Dictionary(uniqueKeysWithValues: counts)).split(records.map { .uncopied(of: $0) })?
                .map { piece in piece.compactMap { $0.stamp?.place.offset } }
        }
        #expect(pieces([]) == nil && pieces([9]) == nil)
        #expect(pieces([3]) == [[0, 1, 2], [3], [4, 5]])
        #expect(pieces([0, 1, 5]) == [[0], [1], [2, 3, 4], [5]])
    }
}
