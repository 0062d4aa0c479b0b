internal import Kafka
internal import Pipeline

/// The assigned partitions, with the committed offset and the last record handed out of each.
///
/// Rejects a late commit: positions of a partition that was given back, or beyond what this assignment handed out,
/// belong to an earlier assignment.
struct AssignedPartitions {
    private struct Progress {
        /// nil: nothing was ever committed.
        var committed: Int64?
        /// The offset after the last record handed out, or after a rewind the committed one.
        var next: Int64
        /// False: start at the oldest record, wherever it is.
        var hasPosition: Bool
        /// Whether a worker of this version committed it.
        var isOwn = false
        /// No record of it is read.
        var isHeld = false
    }

    private var progress: [Int32: Progress] = [:]

    var isEmpty: Bool { progress.isEmpty }

    var numbers: [Int32] { progress.keys.sorted() }

    /// Replaces the assignment, with the group's committed offsets.
    mutating func replace(_ committed: [CommittedOffset]) {
        progress = [:]
        for entry in committed {
            let offset = entry.offset
            progress[entry.partition] = Progress(committed: offset, next: offset ?? 0, hasPosition: offset != nil)
            progress[entry.partition]?.isOwn = entry.metadata == PartitionPositions.metadata
        }
    }

    /// The group's committed offset when the partition was taken over; nil = the partition is not assigned.
    func found(_ partition: Int32) -> (offset: Int64?, isOwn: Bool)? {
        progress[partition].map { ($0.committed, $0.isOwn) }
    }

    /// Starts reading a partition. - Returns: whether that is another offset than its present one.
    mutating func begin(_ partition: Int32, at offset: Int64?) -> Bool {
        let before = progress[partition]
        progress[partition] = Progress(committed: offset, next: offset ?? 0, hasPosition: offset != nil)
        return before?.next != progress[partition]?.next || before?.hasPosition != progress[partition]?.hasPosition
    }

    mutating func hold(_ partition: Int32) { progress[partition]?.isHeld = true }

    /// Partitions that may be read.
    var readable: [Int32] { numbers.filter { progress[$0]?.isHeld == false } }

    mutating func clear() {
        progress = [:]
    }

    /// Where reading goes on: after the last record handed out, at the committed offset, or with the oldest record.
    var starts: [PartitionOffset] { starts(numbers) }

    func starts(_ partitions: [Int32]) -> [PartitionOffset] {
        partitions.compactMap { partition in
            progress[partition].map { progress in
                PartitionOffset(
                    partition: partition,
                    offset: progress.hasPosition ? progress.next : PartitionOffset.beginning
                )
            }
        }
    }

    /// Notes a record that is about to be handed out.
    ///
    /// - Throws: a ``KafkaFault`` that asks for an abort when offsets go back, as they may after a topic was recreated:
    ///   the partition is then taken over again.
    mutating func take(_ partition: Int32, _ offset: Int64) throws(KafkaFault) {
        guard let next = progress[partition]?.next else {
            throw .stale("a record came from partition \(partition), which is not assigned")
        }
        guard offset >= next, offset < Int64.max else {
            throw .offsetGone("offsets of partition \(partition) went back from \(next) to \(offset)")
        }
        progress[partition]?.next = offset + 1
        progress[partition]?.hasPosition = true
    }

    /// Checks positions before they are committed.
    ///
    /// - Throws: a ``KafkaFault`` that asks for an abort when they do not belong to this assignment.
    func check(_ positions: [PartitionPosition]) throws(KafkaFault) {
        for position in positions {
            guard let progress = progress[position.partition] else {
                throw .stale("partition \(position.partition) is no longer assigned, so its offset is not committed")
            }
            guard position.offset >= progress.committed ?? 0, position.offset <= progress.next else {
                throw .stale(
                    "offset \(position.offset) of partition \(position.partition) does not belong to this assignment "
                        + "(\(progress.committed ?? 0) to \(progress.next))"
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
        for partition in numbers {
            let committed = progress[partition]?.committed
            progress[partition]?.next = committed ?? 0
            progress[partition]?.hasPosition = committed != nil
        }
    }
}
