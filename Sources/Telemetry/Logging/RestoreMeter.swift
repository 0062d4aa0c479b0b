package import AppCheck
internal import Kafka
package import Pipeline
internal import Settings
internal import Synchronization

/// Reports the progress of a restore of newly assigned partitions: a line every few seconds while it moves, one when it
/// has stood still for long, and one at its end.
package struct RestoreMeter {
    private static let interval = Duration.seconds(2)
    /// Longer than transactions usually last: a restore that stands still for longer may wait for an operator.
    private static let grace = Duration.seconds(60)

    private let log: EventLog
    private let now: () -> ContinuousClock.Instant
    private var last: RestoreProgress?
    /// Records of all restores that were reported.
    private var reported = 0
    private var started: ContinuousClock.Instant
    private var printed: ContinuousClock.Instant
    /// The time at which the restore last moved; nil once the standstill was reported.
    private var moved: ContinuousClock.Instant?

    package init(log: EventLog, now: @escaping () -> ContinuousClock.Instant = { .now }) {
        (self.log, self.now) = (log, now)
        (started, printed) = (now(), now())
    }

    /// - Parameters:
    ///   - progress: of the restore under way; nil for none. A short one may never be seen.
    ///   - total: records of all restores that have ended.
    package mutating func update(_ progress: RestoreProgress?, total: Int) {
        let now = now()
        if progress != nil, last == nil { (started, printed) = (now, now) }
        if progress != last { moved = now }
        if let progress { tell(progress, now) }
        if progress == nil, total > reported {
            let records = total - reported
            reported = total
            let rate = Double(records) / max(0.001, (now - started) / .seconds(1))
            let speed = last == nil ? "" : ", \(Int(rate).grouped) records/s"
            log.log(
                LogEvent(
                    .info,
                    .ledgerRestored,
                    "the ledger is restored: \(records.counted("record"))\(speed)",
                    counts: [LogEvent.Count("records", records)]
                )
            )
            // The memory of the restore is free now, but the allocator would keep it: more than the keys themselves.
            FreedMemory.giveBack()
        }
        last = progress
    }

    private mutating func tell(_ progress: RestoreProgress, _ now: ContinuousClock.Instant) {
        let left = Int(progress.remaining)
        guard progress == last else {
            guard now - printed >= Self.interval else { return }
            printed = now
            log.log(
                .info,
                .ledgerRestoring,
                "restoring the ledger: \(progress.records.counted("record")), \(left.grouped) left"
            )
            return
        }
        guard let since = moved, now - since >= Self.grace else { return }
        moved = nil
        log.log(
            .warning,
            .ledgerStalled,
            "the restore makes no progress with \(left.counted("offset")) left: the ledger topic's "
                + "broker is away, or a transaction stays open there (kafka-transactions describe-producers shows which)"
        )
    }
}

/// Counts restored records on the loop's thread for the one that prints.
package final class RestoreCount: Sendable {
    private let records = Atomic<Int>(0)

    package init() {}

    @Sendable package func add(_ count: Int) { records.add(count, ordering: .relaxed) }
    package var total: Int { records.load(ordering: .relaxed) }
}

/// Reports when a partition remembers as many used tokens as it may.
package struct SessionTokenMeter {
    private let log: EventLog
    private let limit: Int
    private var isReported = false

    package init(log: EventLog, limits: RequestLimits) {
        self.log = log
        limit = limits.sessionTokens
    }

    package mutating func update(_ tally: LoopTally) {
        guard !isReported, tally.sessionTokensOverLimit > 0 else { return }
        isReported = true
        log.log(
            .warning,
            .tokensFull,
            "session tokens are refused: a partition remembers \(limit.grouped) used tokens already; raise "
                + "limits.sessionTokens in worker.json, shorten tokenTtl, or use limited-use tokens"
        )
    }
}
