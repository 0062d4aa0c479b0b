internal import Kafka
internal import Pipeline

/// The partitions that are ours, with what is committed of each and what was handed out.
///
/// It fences a late commit: positions of a partition that was given back, or that go beyond what this assignment handed
/// out, belong to an earlier assignment.
struct AssignedPartitions {
    private struct Progress {
        /// nil: nothing was ever committed.
        var committed: Int64?
        /// The offset after the last record handed out, or after a rewind the committed one.
        var next: Int64
        /// False: from the oldest record on, wherever that is.
        var hasPosition: Bool
    }

    private var progress: [Int32: Progress] = [:]

    var isEmpty: Bool { progress.isEmpty }

    var numbers: [Int32] { progress.keys.sorted() }

    mutating func replace(_ committed: [(partition: Int32, offset: Int64?)]) {
        progress = [:]
        for (partition, offset) in committed {
            progress[partition] = Progress(committed: offset, next: offset ?? 0, hasPosition: offset != nil)
        }
    }

    mutating func clear() {
        progress = [:]
    }

    /// Where reading goes on: after the last record handed out, at the committed offset, or with the oldest record.
    var starts: [PartitionOffset] {
        progress.sorted { $0.key < $1.key }.map { partition, progress in
            PartitionOffset(
                partition: partition,
                offset: progress.hasPosition ? progress.next : PartitionOffset.beginning
            )
        }
    }

    /// Writes down a record that is about to be handed out.
    ///
    /// - Throws: a fatal ``KafkaFault`` when offsets went back, as they do when a topic was deleted and made again.
    mutating func take(_ partition: Int32, _ offset: Int64) throws(KafkaFault) {
        guard let next = progress[partition]?.next else {
            throw .stale("a record came from partition \(partition), which is not assigned")
        }
        guard offset >= next, offset < Int64.max else {
            throw .fatal(
                "offsets of partition \(partition) went back from \(next) to \(offset): the topic was replaced or "
                    + "truncated; reset the group before going on"
            )
        }
        progress[partition]?.next = offset + 1
        progress[partition]?.hasPosition = true
    }

    /// Checks positions before they are committed.
    ///
    /// - Throws: a ``KafkaFault`` asking for an abort when they are not this assignment's.
    func check(_ positions: [PartitionPosition]) throws(KafkaFault) {
        for position in positions {
            guard let progress = progress[position.partition] else {
                throw .stale("partition \(position.partition) is no longer assigned, so its offset is not committed")
            }
            guard position.offset >= progress.committed ?? 0, position.offset <= progress.next else {
                throw .stale(
                    "offset \(position.offset) of partition \(position.partition) is none of this assignment's "
                        + "(\(progress.committed ?? 0) to \(progress.next))"
                )
            }
        }
    }

    mutating func noteCommitted(_ positions: [PartitionPosition]) {
        for position in positions { progress[position.partition]?.committed = position.offset }
    }

    /// What was handed out since the last commit counts as not handed out.
    mutating func rewind() {
        replace(progress.map { ($0.key, $0.value.committed) })
    }
}
