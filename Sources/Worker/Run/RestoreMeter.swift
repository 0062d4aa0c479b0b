internal import Kafka
internal import Pipeline
internal import Synchronization

/// Tells how far the restore of newly assigned partitions is: a line every few seconds, and one at its end.
struct RestoreMeter {
    private static let interval = Duration.seconds(2)

    private let console: Console
    private var last: RestoreProgress?
    /// Records of all restores that were told of.
    private var told = 0
    private var started = ContinuousClock.now
    private var printed = ContinuousClock.now

    init(console: Console) { self.console = console }

    /// - Parameters:
    ///   - progress: of the restore that is under way; nil for none. One that is over soon may never be seen.
    ///   - total: records of all restores that have come to their end.
    mutating func update(_ progress: RestoreProgress?, total: Int) {
        let now = ContinuousClock.now
        if progress != nil, last == nil { (started, printed) = (now, now) }
        if let progress, now - printed >= Self.interval {
            printed = now
            console.print(
                "restoring the ledger: \(progress.records.grouped) records, \(Int(progress.remaining).grouped) left"
            )
        }
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
}

/// Counts restored records on the loop's thread for the one that prints.
final class RestoreCount: Sendable {
    private let records = Atomic<Int>(0)

    func add(_ count: Int) { records.add(count, ordering: .relaxed) }
    var total: Int { records.load(ordering: .relaxed) }
}
