import TestKit
import Testing
internal import Threads

@testable import Pipeline
@testable import Settings
@testable import Telemetry

/// The progress lines of a restore, on a clock of the test's own.
struct RestoreMeterTests {
    /// The lines printed after updates, each with its second.
    private func lines(
        _ updates: [(second: Int, progress: RestoreProgress?, total: Int)],
        memory: RestoreMeter.Memory = RestoreMeter.Memory(limit: nil) { 0 }
    ) -> [String] {
        let text = Locked<[UInt8]>([])
        let log = EventLog(LogSettings(), .terminal, write: { bytes in text.withLock { $0 += bytes } })
        let begin = anyMoment
        var second = 0
        var meter = RestoreMeter(log: log, memory: memory) { begin + .seconds(second) }
        for update in updates {
            second = update.second
            meter.update(update.progress, total: update.total)
        }
        log.finish()
        return text.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }

    private func progress(_ records: Int, _ remaining: Int64) -> RestoreProgress {
        RestoreProgress(records: records, remaining: remaining)
    }

    @Test func `a restore that makes progress is reported every two seconds, and so is its end`() {
        let lines = lines([
            (0, progress(0, 900), 0), (1, progress(100, 800), 0), (2, progress(200, 700), 0),
            (3, progress(300, 600), 0), (4, progress(600, 300), 0), (5, nil, 900),
        ])
        #expect(
            lines == [
                "restoring the ledger: 200 records, 700 left", "restoring the ledger: 600 records, 300 left",
                "the ledger is restored: 900 records, 180 records/s",
            ]
        )
    }

    @Test(arguments: [(800, 1), (799, 0)])
    func `a restore near the memory limit is reported once, before the kernel ends the process`(used: Int64, count: Int)
    {
        let updates = [(0, progress(0, 900), 0), (1, progress(100, 800), 0), (2, nil, 900)]
        let lines = lines(
            updates,
            memory: RestoreMeter.Memory(limit: 1_000 << 20) { (used << 20) + (used == 800 ? 1 : 0) }
        )
        let told = lines.filter { $0.contains("the restore may reach the memory limit") }
        #expect(told.count == count, "\(lines)")
        if let line = told.first { #expect(line.contains("800 MiB of 1,000 MiB are used with 900 offsets left")) }
    }

    @Test func `a restore without progress is reported once, and again only after progress in between`() {
        let stuck = progress(22, 5)
        let further = progress(23, 4)
        let lines = lines(
            [(0, stuck, 0), (59, stuck, 0), (60, stuck, 0), (61, stuck, 0), (300, stuck, 0)].map { $0 }
                + [(301, further, 0), (302, further, 0), (361, further, 0), (400, further, 0), (401, nil, 27)]
        )
        #expect(lines.count == 4, "\(lines)")
        #expect(lines.first?.hasPrefix("warning: the restore makes no progress with 5 offsets left") ?? false)
        #expect(lines[1] == "restoring the ledger: 23 records, 4 left")
        #expect(lines[2].hasPrefix("warning: the restore makes no progress with 4 offsets left"))
        #expect(lines[3].hasPrefix("the ledger is restored: 27 records"))
    }
}
