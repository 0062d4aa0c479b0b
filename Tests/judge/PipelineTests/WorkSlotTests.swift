import Streams
import Testing

@testable import Pipeline

@Suite("A slot names its thread's work")
struct WorkSlotTests {
    private func record(_ offset: Int64, partition: Int32 = 3) -> InboundRecord {
        InboundRecord(topic: "t", partition: partition, offset: offset, timestamp: 7_000 + offset, key: nil, value: nil)
    }

    private func item(_ offset: Int64) -> WorkItem {
        WorkItem(place: RecordPlace(partition: 3, offset: offset), timestamp: 7_000 + offset)
    }

    /// A slot's work as another thread sees it after so many records.
    ///
    /// - Parameter alone: whether they are the batch's only ones, and are processed together.
    private func seen(_ slot: WorkSlot, _ stage: WorkStage, of count: Int, alone: Bool = false) throws -> Work {
        let seen = slot.during(stage, alone: alone) { () -> Work? in
            for offset in 0..<count { slot.note(record(Int64(offset))) }
            if alone { slot.noteAll() }
            return slot.snapshot()
        }
        return try #require(seen)
    }

    @Test func `only the record in work is named, not the ones before it`() throws {
        let slot = WorkSlot()
        #expect(slot.snapshot() == nil)
        let work = try seen(slot, .decoding, of: 5)
        #expect(work.items == [item(4)])
        #expect(work.stage == .decoding && !work.isAlone)
        #expect(slot.snapshot() == nil, "the work has ended")
    }

    @Test func `if records are processed together, all of the grain are named`() throws {
        let work = try seen(WorkSlot(), .verifying, of: 3, alone: true)
        #expect(work.items == [item(0), item(1), item(2)])
        #expect(work.isAlone)
    }

    @Test(arguments: [63, 64, 65, 1_000])
    func `work longer than a grain names its latest record`(count: Int) throws {
        #expect(try seen(WorkSlot(), .admitting, of: count).items == [item(Int64(count - 1))])
    }

    @Test func `each grain has its own number, and drops the records before it`() throws {
        let slot = WorkSlot()
        let (first, second) = (try seen(slot, .decoding, of: 1), try seen(slot, .encoding, of: 0))
        #expect(first.number != second.number && second.items == [])
    }

    @Test(
        arguments: [WorkSlot.Word.stage, WorkSlot.Word.count, WorkSlot.Word.current]
    )
    func `words that no slot wrote name no record`(word damaged: Int) {
        func words(_ index: Int) -> Int64 { index == damaged ? 1_000_000 : index == WorkSlot.Word.current ? 0 : 1 }
        #expect(Work(words: words) == nil)
        #expect(Work { $0 == WorkSlot.Word.current ? 0 : 1 } != nil, "the same words, undamaged")
    }
}
