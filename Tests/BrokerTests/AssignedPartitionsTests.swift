import Kafka
import KafkaPorts
import Log
import Pipeline
import Testing

@testable import Broker

struct AssignedPartitionsTests {
    /// Partition 0 committed at 5, partition 1 never.
    private func assigned() -> AssignedPartitions {
        var partitions = AssignedPartitions()
        partitions.replace([
            CommittedOffset(partition: 0, offset: 5, metadata: PartitionPositions.metadata),
            CommittedOffset(partition: 1, offset: nil),
        ])
        return partitions
    }

    private func position(_ partition: Int32, _ offset: Int64) -> PartitionPosition {
        PartitionPosition(partition: partition, offset: offset)
    }

    @Test func `reading starts at the committed offset, otherwise at the oldest record`() {
        #expect(
            assigned().starts == [
                PartitionOffset(partition: 0, offset: 5),
                PartitionOffset(partition: 1, offset: PartitionOffset.beginning),
            ]
        )
    }

    @Test func `records that were handed out may be committed, with gaps between offsets`() throws {
        var partitions = assigned()
        for offset in [5, 6, 9] as [Int64] { try partitions.noteHandedOut(0, offset) }
        try partitions.noteHandedOut(1, 40)
        try partitions.check([position(0, 10), position(1, 41)])
        try partitions.check([position(0, 7)])
        try partitions.check([])
    }

    @Test func `the position is behind the markers that follow the last record, once that is committed`() throws {
        var partitions = assigned()
        #expect(partitions.positions == [0: 5])
        try partitions.noteHandedOut(0, 5)
        partitions.noteEnd(PartitionOffset(partition: 0, offset: 7))
        #expect(partitions.positions == [0: 5], "the record is not answered")
        partitions.noteCommitted([position(0, 6)])
        #expect(partitions.positions == [0: 7] && partitions.committed == [0: 6])
        // A partition of markers alone.
        partitions.noteEnd(PartitionOffset(partition: 1, offset: 3))
        #expect(partitions.positions == [0: 7, 1: 3] && partitions.committed == [0: 6])
        try partitions.noteHandedOut(0, 7)
        #expect(partitions.positions[0] == 6)
        partitions.noteCommitted([position(0, 8)])
        #expect(partitions.positions[0] == 8)
    }

    @Test func `a partition is read once a record of it came, or word that there is none`() throws {
        var partitions = assigned()
        #expect(partitions.unread == [0, 1])
        // The answer to an earlier question.
        partitions.noteEnd(PartitionOffset(partition: 0, offset: 4))
        partitions.noteEnd(PartitionOffset(partition: 1, offset: 0))
        #expect(partitions.unread == [0])
        try partitions.noteHandedOut(0, 5)
        #expect(partitions.unread == [])
        partitions.rewind()
        #expect(partitions.unread == [])
        _ = partitions.begin(0, at: 5)
        #expect(partitions.unread == [0])
    }

    @Test func `an end from before a rewind, of an earlier record or of no assigned partition does not count`() throws {
        var partitions = assigned()
        for offset in [5, 6] as [Int64] { try partitions.noteHandedOut(0, offset) }
        partitions.noteEnd(PartitionOffset(partition: 0, offset: 8))
        partitions.rewind()
        #expect(partitions.positions == [0: 5])
        try partitions.noteHandedOut(0, 5)
        partitions.noteEnd(PartitionOffset(partition: 0, offset: 5))
        partitions.noteEnd(PartitionOffset(partition: 2, offset: 5))
        partitions.noteCommitted([position(0, 6)])
        #expect(partitions.positions == [0: 6])
        partitions.noteEnd(PartitionOffset(partition: 0, offset: 9))
        _ = partitions.begin(0, at: 6)
        #expect(partitions.positions == [0: 6])
    }

    static let stale: [(Int32, Int64)] = [(0, 4), (0, 11), (2, 1), (1, -1), (0, .max), (0, .min)]

    @Test(arguments: stale)
    func `a position of another assignment requires an abort`(partition: Int32, offset: Int64) throws {
        var partitions = assigned()
        for offset in 5..<10 as Range<Int64> { try partitions.noteHandedOut(0, offset) }
        let fault = #expect(throws: KafkaFault.self) { try partitions.check([position(partition, offset)]) }
        #expect(fault?.isRecoverable == true)
    }

    @Test func `nothing may be committed after the partitions were released`() throws {
        var partitions = assigned()
        try partitions.noteHandedOut(0, 5)
        partitions.clear()
        #expect(throws: KafkaFault.self) { try partitions.check([position(0, 6)]) }
        #expect(partitions.isEmpty)
    }

    @Test func `a rewind goes back to the committed offset, and the same records are read again`() throws {
        var partitions = assigned()
        for offset in 5..<8 as Range<Int64> { try partitions.noteHandedOut(0, offset) }
        partitions.noteCommitted([position(0, 7)])
        try partitions.noteHandedOut(1, 0)
        partitions.rewind()
        #expect(partitions.starts.map(\.offset) == [7, PartitionOffset.beginning])
        #expect(throws: KafkaFault.self) { try partitions.check([position(0, 8)]) }
        try partitions.noteHandedOut(0, 7)
        try partitions.noteHandedOut(1, 0)
        try partitions.check([position(0, 8), position(1, 1)])
    }

    @Test func `reading continues after the last record that was handed out`() throws {
        var partitions = assigned()
        try partitions.noteHandedOut(0, 5)
        try partitions.noteHandedOut(1, 0)
        #expect(partitions.starts.map(\.offset) == [6, 1])
    }

    @Test func `offsets that go back require an abort and a new assignment of the partition`() throws {
        var partitions = assigned()
        try partitions.noteHandedOut(0, 8)
        for offset in [8, 5, 0, -1] as [Int64] {
            let fault = #expect(throws: KafkaFault.self) { try partitions.noteHandedOut(0, offset) }
            #expect(fault?.isFatal == false && fault?.requiresAbort == true && fault?.isOffsetGone == true)
        }
        #expect(throws: KafkaFault.self) { try partitions.noteHandedOut(0, .max) }
    }

    @Test func `a committed offset is known with its owner`() {
        let partitions = assigned()
        #expect(partitions.found(0)?.offset == 5 && partitions.found(0)?.isOwn == true)
        #expect(partitions.found(1)?.offset == nil && partitions.found(1)?.isOwn == false)
        #expect(partitions.found(2) == nil)
    }

    @Test func `a read that starts elsewhere reports the move, and a rewind goes back there`() throws {
        var partitions = assigned()
        let moved = partitions.begin(0, at: 5)
        #expect(!moved)
        let isMoved = partitions.begin(0, at: 9)
        #expect(isMoved)
        try partitions.noteHandedOut(0, 9)
        partitions.rewind()
        #expect(partitions.starts.map(\.offset) == [9, PartitionOffset.beginning])
        #expect(throws: KafkaFault.self) { try partitions.check([position(0, 8)]) }
        let stays = partitions.begin(1, at: nil)
        #expect(!stays)
        let starts = partitions.begin(1, at: 0)
        #expect(starts, "offset 0 is no wish for whatever is oldest")
    }

    @Test func `a record of an unassigned partition is refused`() {
        var partitions = assigned()
        let fault = #expect(throws: KafkaFault.self) { try partitions.noteHandedOut(3, 0) }
        #expect(fault?.isFatal == false)
    }
}
