internal import Settings

/// Notices when an open transaction of a producer of requests stops a partition, and when that is over.
struct UnstableWatch {
    /// How long a last stable offset may stand still before its partition: more than a commit in order takes, in
    /// milliseconds.
    static let grace: Int64 = 15_000

    private struct Wait {
        let stable: Int64
        /// The start in milliseconds.
        let since: Int64
        var isReported = false
    }

    private var waits: [Int32: Wait] = [:]

    /// - Parameters:
    ///   - ends: of the assigned partitions.
    ///   - positions: up to where everything is answered. A worker with something left to answer may have stopped
    ///     fetching, and then knows old ends only.
    ///   - now: milliseconds of a clock that never goes back.
    mutating func poll(_ ends: [Int32: PartitionEnds], positions: [Int32: Int64], at now: Int64) -> [LogEvent] {
        // Of a partition that was given away its next owner tells.
        waits = waits.filter { ends[$0.key] != nil }
        return ends.sorted { $0.key < $1.key }.compactMap { poll($0.key, $0.value, positions[$0.key], at: now) }
    }

    private mutating func poll(
        _ partition: Int32,
        _ ends: PartitionEnds,
        _ position: Int64?,
        at now: Int64
    ) -> LogEvent? {
        let wait = waits[partition]
        let isHeld = ends.unstable > 0 && (position ?? ends.low) >= ends.stable
        guard let wait, ends.unstable > 0, ends.stable == wait.stable, isHeld || wait.isReported else {
            waits[partition] = isHeld ? Wait(stable: ends.stable, since: now) : nil
            return wait.flatMap { $0.isReported ? Self.end(partition, seconds: (now - $0.since) / 1000) : nil }
        }
        guard !wait.isReported, now - wait.since >= Self.grace else { return nil }
        waits[partition]?.isReported = true
        return Self.begin(partition, ends, seconds: (now - wait.since) / 1000)
    }

    private static func begin(_ partition: Int32, _ ends: PartitionEnds, seconds: Int64) -> LogEvent {
        let message =
            "partition \(partition) stands still: for \(seconds) s an open transaction of another producer has held back "
            + "what lies behind its last stable offset \(ends.stable), records waiting: \(ends.unstable); if it does not "
            + "end, find it with kafka-transactions.sh describe-producers, and abort it"
        var event = LogEvent(.warning, .partitionUnstable, message, counts: [.init("unstable", Int(ends.unstable))])
        (event.partition, event.offset) = (partition, ends.stable)
        return event
    }

    private static func end(_ partition: Int32, seconds: Int64) -> LogEvent {
        let message = "partition \(partition) goes on: the open transaction has ended, after \(seconds) s"
        var event = LogEvent(.info, .partitionStable, message, counts: [.init("seconds", Int(seconds))])
        event.partition = partition
        return event
    }
}
