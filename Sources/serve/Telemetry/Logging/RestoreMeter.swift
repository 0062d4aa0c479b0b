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

    /// What a key takes in memory; see Sizing.
    private static let bytesPerKey: Int64 = 270

    private let log: EventLog
    private let memory: Memory
    private let now: () -> ContinuousClock.Instant
    private var last: RestoreProgress?
    /// Records of all restores that were reported.
    private var reported = 0
    private var started: ContinuousClock.Instant
    private var printed: ContinuousClock.Instant
    /// The time at which the restore last moved; nil once the standstill was reported.
    private var moved: ContinuousClock.Instant?
    private var isNarrow = false

    /// The memory that the process has and may have, in bytes.
    package struct Memory {
        /// nil = unlimited.
        package var limit: Int64?
        package var resident: () -> Int64

        package static var ofProcess: Memory {
            Memory(limit: MemoryLimit.bytes, resident: ProcessFigures.residentBytes)
        }
    }

    package init(
        log: EventLog,
        memory: Memory = .ofProcess,
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) {
        (self.log, self.memory, self.now) = (log, memory, now)
        (started, printed) = (now(), now())
    }

    /// - Parameters:
    ///   - progress: of the restore under way; nil for none. A short one may never be seen.
    ///   - total: records of all restores that have ended.
    package mutating func update(_ progress: RestoreProgress?, total: Int) {
        let now = now()
        if progress != nil, last == nil { (started, printed) = (now, now) }
        if progress != last { moved = now }
        if let progress {
            warn(progress)
            tell(progress, now)
        }
        if progress == nil, total > reported {
            let records = total - reported
            reported = total
            let rate = Double(records) / max(0.001, (now - started) / .seconds(1))
            let speed = last == nil ? "" : ", \(Int(rate).grouped) records/s"
            let message = "the ledger is restored: \(records.counted("record"))\(speed)"
            log.log(LogEvent(.info, .ledgerRestored, message, counts: [.init("records", records)]))
            // The memory of the restore is free now, but the allocator would keep it: more than the keys themselves.
            FreedMemory.giveBack()
        }
        last = progress
    }

    /// The kernel ends a process at its limit without a word, and the next start meets the same ledger.
    private mutating func warn(_ progress: RestoreProgress) {
        guard let limit = memory.limit, progress.remaining > 0, !isNarrow else { return }
        let resident = memory.resident()
        guard resident > limit / 5 * 4 else { return }
        isNarrow = true
        log.log(
            .warning,
            .ledgerRestoring,
            "the restore may reach the memory limit, where the kernel ends the process: \(Self.mebibytes(resident)) of "
                + "\(Self.mebibytes(limit)) are used with \(Int(progress.remaining).grouped) offsets left, and a key takes "
                + "\(Self.bytesPerKey) bytes; raise the limit, or share the partitions among more workers"
        )
    }

    private static func mebibytes(_ bytes: Int64) -> String { "\(Int(bytes >> 20).grouped) MiB" }

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
