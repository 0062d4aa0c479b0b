internal import Kafka
internal import KafkaPorts
internal import Log
internal import Pipeline

/// The assigned partitions, with the committed offset and the last record handed out of each.
///
/// Rejects a late commit: positions of a partition that was given back, or beyond what this assignment handed out,
/// belong to an earlier assignment.
struct AssignedPartitions {
    private struct Progress {
        /// nil: nothing was ever committed.
        var committed: Int64?
        /// The offset after the last record handed out, or after a rewind the committed one; nil: start at the oldest
        /// record, wherever it is.
        var next: Int64?
        /// Everything before it was read, and since ``next`` there were only markers; nil: not known.
        var end: Int64?
        /// Whether a record, or the end, has come since the partition was taken over.
        var isRead = false
        /// Whether a worker of this version committed it.
        var isOwn = false
    }

    private var progress: [Int32: Progress] = [:]

    var isEmpty: Bool { progress.isEmpty }

    var numbers: [Int32] { progress.keys.sorted() }

    /// Replaces the assignment, with the group's committed offsets.
    mutating func replace(_ committed: [CommittedOffset]) {
        progress = [:]
        for entry in committed {
            let isOwn = entry.metadata == PartitionPositions.metadata
            progress[entry.partition] = Progress(committed: entry.offset, next: entry.offset, isOwn: isOwn)
        }
    }

    /// The group's committed offset when the partition was taken over; nil = the partition is not assigned.
    func found(_ partition: Int32) -> (offset: Int64?, isOwn: Bool)? {
        progress[partition].map { ($0.committed, $0.isOwn) }
    }

    /// Starts reading a partition. - Returns: whether that is another offset than its present one.
    mutating func begin(_ partition: Int32, at offset: Int64?) -> Bool {
        let before = progress[partition]
        progress[partition] = Progress(committed: offset, next: offset)
        return before.map { $0.next != offset } ?? true
    }

    /// The committed offsets, by partition; nothing of those that never had one.
    var committed: [Int32: Int64] { progress.compactMapValues(\.committed) }

    /// Up to where nothing is left to answer, by partition: behind the committed offset, and behind the markers that
    /// follow it where everything else is committed.
    var positions: [Int32: Int64] {
        progress.compactMapValues { progress in
            guard let end = progress.end, progress.committed == progress.next else { return progress.committed }
            return max(end, progress.committed ?? 0)
        }
    }

    /// Partitions of which nothing has come yet, and no word that nothing is there.
    var unread: [Int32] { numbers.filter { progress[$0]?.isRead == false } }

    mutating func clear() {
        progress = [:]
    }

    /// Where reading goes on: after the last record handed out, at the committed offset, or with the oldest record.
    var starts: [PartitionOffset] { starts(numbers) }

    func starts(_ partitions: [Int32]) -> [PartitionOffset] {
        partitions.compactMap { partition in
            progress[partition].map { progress in
                PartitionOffset(partition: partition, offset: progress.next ?? PartitionOffset.beginning)
            }
        }
    }

    /// Notes a record that is about to be handed out.
    ///
    /// - Throws: a ``KafkaFault`` that asks for an abort when offsets go back, as they may after a topic was recreated:
    ///   the partition is then taken over again.
    mutating func noteHandedOut(_ partition: Int32, _ offset: Int64) throws(KafkaFault) {
        guard let place = progress.index(forKey: partition) else {
            throw .stale("a record came from partition \(partition), which is not assigned")
        }
        let next = progress.values[place].next ?? 0
        guard offset >= next, offset < Int64.max else {
            throw .offsetGone("offsets of partition \(partition) went back from \(next) to \(offset)")
        }
        progress.values[place].next = offset + 1
        progress.values[place].isRead = true
    }

    /// Notes that nothing but markers lies between the last record handed out and an offset.
    mutating func noteEnd(_ end: PartitionOffset) {
        guard let known = progress[end.partition], end.offset >= known.next ?? 0 else { return }
        progress[end.partition]?.end = end.offset
        progress[end.partition]?.isRead = true
    }

    /// Checks positions before they are committed.
    ///
    /// - Throws: a ``KafkaFault`` that asks for an abort when they do not belong to this assignment.
    func check(_ positions: [PartitionPosition]) throws(KafkaFault) {
        for position in positions {
            guard let progress = progress[position.partition] else {
                throw .stale("partition \(position.partition) is no longer assigned, so its offset is not committed")
            }
            let (low, high) = (progress.committed ?? 0, progress.next ?? 0)
            guard position.offset >= low, position.offset <= high else {
                throw .stale(
                    "offset \(position.offset) of partition \(position.partition) does not belong to this assignment "
                        + "(\(low) to \(high))"
                )
            }
        }
    }

    mutating func noteCommitted(_ positions: [PartitionPosition]) {
        for position in positions {
            let before = progress[position.partition]?.committed ?? 0
            precondition(position.offset >= before, "committed offsets of partition \(position.partition) rise")
            progress[position.partition]?.committed = position.offset
        }
    }

    /// Records handed out since the last commit count as not handed out.
    mutating func rewind() {
        for (partition, entry) in progress {
            progress[partition]?.next = entry.committed
            progress[partition]?.end = nil
        }
    }
}
