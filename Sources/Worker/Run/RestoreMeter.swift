internal import Kafka
internal import Pipeline

/// Tells how far the restore of newly assigned partitions is: a line every few seconds, and one at its end.
struct RestoreMeter {
    private static let interval = Duration.seconds(2)

    private let console: Console
    private var last: RestoreProgress?
    private var started = ContinuousClock.now
    private var printed = ContinuousClock.now

    init(console: Console) { self.console = console }

    mutating func update(_ progress: RestoreProgress?) {
        let now = ContinuousClock.now
        if progress != nil, last == nil { (started, printed) = (now, now) }
        if let progress, now - printed >= Self.interval {
            printed = now
            console.print(
                "restoring the ledger: \(progress.records.grouped) records, \(Int(progress.remaining).grouped) left"
            )
        }
        if progress == nil, let last, last.records > 0 {
            let seconds = max(0.001, (now - started) / .seconds(1))
            let rate = Int(Double(last.records) / seconds).grouped
            console.print("the ledger is restored: \(last.records.grouped) records, \(rate) records/s")
            // What the reading needed is free now, but the allocator would keep it: more than the keys themselves.
            FreedMemory.giveBack()
        }
        last = progress
    }
}
