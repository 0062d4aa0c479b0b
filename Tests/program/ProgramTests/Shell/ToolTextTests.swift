internal import AppCheck
internal import Settings
internal import TestKit
internal import Testing
internal import Threads

@testable internal import CommandFrame
@testable internal import Pipeline
@testable internal import Telemetry

@Suite("What commands say")
struct ToolTextTests {
    @Test func `one of a thing is singular`() {
        #expect(
            [0, 1, 2, 1_000].map { $0.counted("record") } == ["0 records", "1 record", "2 records", "1,000 records"]
        )
        #expect([1, 2].map { $0.counted("line", "is", "are") } == ["1 line is", "2 lines are"])
    }

    @Test func `one record is told as one`() throws {
        let folder = try SimulationFolder()
        let load = ["--devices", "1", "--records", "1", "--output", folder.file("capture")]
        let (code, transcript) = folder.simulate(["--new-config"] + load)
        #expect(code == 0 && transcript.output.contains("wrote 1 record of 1 device to "))
    }

    @Test func `in the background no progress is drawn on the terminal`() {
        for isInForeground in [true, false] {
            var error: [UInt8] = []
            let console = Console(
                isTerminal: true,
                isInForeground: { isInForeground },
                output: { _ in },
                error: { error += $0 }
            )
            var meter = ProgressMeter("work", unit: "record", total: 9, console: console, elapsed: { .seconds(1) })
            meter.update(5)
            meter.finish()
            #expect(error.isEmpty == !isInForeground)
            console.printError("done")
            #expect(String(decoding: error, as: UTF8.self).hasSuffix("done\n"))
        }
    }

    @Test func `nor is run's`() {
        let text = Locked<[UInt8]>([])
        let write: @Sendable ([UInt8]) -> Void = { bytes in text.withLock { $0 += bytes } }
        let log = EventLog(LogSettings(), .terminal, isInForeground: { false }, write: write)
        log.show(progress: "run: 5 requests")
        log.log(.info, .starting, "started")
        log.finish()
        #expect(text.withLock { $0 } == Array("started\n".utf8))
    }

    // MARK: What has no event

    @Test func `the line of what has no event is short, whatever apps there are, and says how much it leaves out`()
        throws
    {
        var tally = LoopTally()
        for app in 0..<200 {
            for (place, reason) in Reason.allCases.enumerated() {
                let key = RefusalCounts.Key(
                    app: "projects/123456789012/apps/1:123456789012:ios:\(app)",
                    verb: .verifyAssertion,
                    reason: reason
                )
                for _ in 0...(app + place) % 7 { tally.refusals.add(key) }
            }
        }
        let line = try #require(RunAccount.withoutEvents(tally))
        #expect(line.utf8.count < 1_200)
        let lines = tally.refusals.lines
        let (all, kinds) = (lines.reduce(0) { $0 + $1.count }, lines.count - 10)
        let shown = lines.map(\.count).sorted().suffix(10).reduce(0, +)
        let rest = "and \((all - shown).grouped) of \(kinds.grouped) other kinds (attest_requests_total has all)"
        #expect(line.hasSuffix(", " + rest), "\(line)")
    }

    // MARK: Files

    @Test(arguments: [[], [MadeEvent(event: "SomethingElse")]])
    func `a file without an event ends rollout with one line and exit code 1`(events: [MadeEvent]) throws {
        let directory = try KeyDirectory()
        try directory.write("events", MadeEvent.capture(events))
        let (code, output, error) = directory.run("rollout", "--input", "\(directory.path)/events")
        #expect(code == 1 && output.isEmpty)
        #expect(error.contains("/events holds no event: --input takes a capture of the topic "), "\(error)")
        #expect(error.split(separator: "\n").count == 1)
        try directory.write("events", MadeEvent.capture([MadeEvent()]))
        let later = directory.run("rollout", "--input", "\(directory.path)/events", "--since", "2090-01-01T00:00:00Z")
        #expect(later.code == 0, "events of another time are events")
    }
}
