internal import Kafka
internal import Pipeline
internal import Synchronization

/// Tells how far the restore of newly assigned partitions is: a line every few seconds while it moves, one when it has
/// stood still for long, and one at its end.
struct RestoreMeter {
    private static let interval = Duration.seconds(2)
    /// Longer than transactions usually last: what stands still for longer may wait for somebody.
    private static let patience = Duration.seconds(60)

    private let console: Console
    private let now: () -> ContinuousClock.Instant
    private var last: RestoreProgress?
    /// Records of all restores that were told of.
    private var told = 0
    private var started: ContinuousClock.Instant
    private var printed: ContinuousClock.Instant
    /// When the restore last came on; nil once it was told that it does not.
    private var moved: ContinuousClock.Instant?

    init(console: Console, now: @escaping () -> ContinuousClock.Instant = { .now }) {
        (self.console, self.now) = (console, now)
        (started, printed) = (now(), now())
    }

    /// - Parameters:
    ///   - progress: of the restore that is under way; nil for none. One that is over soon may never be seen.
    ///   - total: records of all restores that have come to their end.
    mutating func update(_ progress: RestoreProgress?, total: Int) {
        let now = now()
        if progress != nil, last == nil { (started, printed) = (now, now) }
        if progress != last { moved = now }
        if let progress { tell(progress, now) }
        if progress == nil, total > told {
            let records = total - told
            told = total
            let rate = Double(records) / max(0.001, (now - started) / .seconds(1))
            let speed = last == nil ? "" : ", \(Int(rate).grouped) records/s"
            console.print("the ledger is restored: \(records.grouped) records\(speed)")
            // What the reading needed is free now, but the allocator would keep it: more than the keys themselves.
            FreedMemory.giveBack()
        }
        last = progress
    }

    private mutating func tell(_ progress: RestoreProgress, _ now: ContinuousClock.Instant) {
        let left = Int(progress.remaining).grouped
        guard progress == last else {
            guard now - printed >= Self.interval else { return }
            printed = now
            console.print("restoring the ledger: \(progress.records.grouped) records, \(left) left")
            return
        }
        guard let since = moved, now - since >= Self.patience else { return }
        moved = nil
        console.printError(
            "\(AttestWorker.name): the restore stands still with \(left) offsets left: the ledger topic's broker is away, or a "
                + "transaction stays open there (kafka-transactions describe-producers tells which)"
        )
    }
}

/// Counts restored records on the loop's thread for the one that prints.
final class RestoreCount: Sendable {
    private let records = Atomic<Int>(0)

    func add(_ count: Int) { records.add(count, ordering: .relaxed) }
    var total: Int { records.load(ordering: .relaxed) }
}
