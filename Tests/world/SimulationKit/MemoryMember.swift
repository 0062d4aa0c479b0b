package import Streams

/// The only member of a group, on ledgers in memory: starts every partition, and notes what the loop answers.
package final class MemoryMember: GroupMember {
    /// What a test's group does.
    package enum Change: Sendable, Equatable { case assigned([Int32]), revoked([Int32]), lost([Int32]) }

    package private(set) var starts: [Int32] = []
    package private(set) var releases = 0
    package private(set) var holds: [Int32: String] = [:]
    package private(set) var assigned: [Int32]?
    /// Of each restore, the partitions whose ledgers the loop still had.
    package private(set) var kept: [Set<Int32>] = []
    private var announced: [Int32] = []
    private var announcement = 0

    /// What the next ``serve()`` says.
    package var change: Change?
    /// What each start says, in order; the last one from then on.
    package var reports = [PartitionStart.Report()]
    /// Called where the loop is ready for ledgers.
    package var restoring: ((_ partitions: [Int32], _ kept: Set<Int32>) throws -> Void)?
    /// Gives the ledgers; nil = no ledger has a record.
    package var reading: ((_ most: Int) throws -> [PartitionEvent])?
    /// Gives what a standby reads, by the partitions that the loop keeps and reads; nil = nothing is followed.
    package var following: ((_ kept: Set<Int32>, _ reading: Set<Int32>) -> [StandbyEvent])?
    /// Called before partitions are given back.
    package var releasing: (() throws -> Void)?
    package let group: [UInt8]? = nil

    package init() {}

    /// A change, as the loop hears of it.
    package func event(_ change: Change) -> PartitionEvent {
        switch change {
        case .assigned(let partitions):
            announcement += 1
            announced = partitions
            let isNew = assigned.map { !Set($0).isSuperset(of: partitions) } ?? true
            return .assigned(partitions, of: Generation(announcement), isNew: isNew)
        case .revoked(let partitions): return .revoked(partitions)
        case .lost(let partitions): return .lost(partitions)
        }
    }

    /// Every ledger that was asked for is given.
    package var allGiven: [PartitionEvent] { announced.map { .ledgerGiven($0) } }

    /// The next so many of a topic's records, and after the last one that all ledgers are given.
    package func next(_ most: Int, of topic: inout [StoredRecord]) -> [PartitionEvent] {
        let records = StoredRecords(topic.prefix(most))
        topic.removeFirst(records.count)
        return [.ledger(records, left: Int64(topic.count))] + (topic.isEmpty ? allGiven : [])
    }

    /// A partition is held, as the loop hears of it.
    package func hold(_ partition: Int32, _ sentence: String) -> PartitionEvent {
        defer { holds[partition] = sentence }
        return .held(partition, sentence, isNew: holds[partition] != sentence)
    }

    package func serve() -> [PartitionEvent] { change.take().map { [event($0)] } ?? [] }

    package func restore(kept: Set<Int32>, of announcement: Generation) throws {
        self.kept.append(kept)
        try restoring?(announced, kept)
        (assigned, holds) = (announced.sorted(), [:])
    }

    package func readLedgers(_ records: Int, waitMilliseconds: Int) throws -> [PartitionEvent] {
        try reading?(records) ?? allGiven
    }

    package var standbyLag: Int64? { following.map { _ in 0 } }
    package func readStandby(
        _ records: Int,
        mayWait: Bool,
        kept: Set<Int32>,
        reading: Set<Int32>
    ) -> [StandbyEvent] {
        following?(kept, reading) ?? []
    }

    package func ledgerIsWhole(
        _ partition: Int32,
        mark: PositionMark?,
        isEmpty: Bool,
        of announcement: Generation
    ) -> PartitionEvent? {
        guard announcement == Generation(self.announcement) else { return nil }
        starts.append(partition)
        return .started(partition, reports.count > 1 ? reports.removeFirst() : reports[0])
    }

    package func ledgerIsUnusable(
        _ partition: Int32,
        _ sentence: String,
        of announcement: Generation
    ) -> PartitionEvent? {
        announcement == Generation(self.announcement) ? hold(partition, sentence) : nil
    }

    package func isFirstOffsetDue(_ partition: Int32) -> Bool { false }

    package func release() throws {
        try releasing?()
        releases += 1
        (assigned, holds) = (nil, [:])
    }
}
