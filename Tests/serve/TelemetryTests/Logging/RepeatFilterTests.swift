internal import Kafka
internal import Settings
internal import Testing

@testable internal import Telemetry

/// What becomes of lines that come again and again.
struct RepeatFilterTests {
    private func fault(_ text: String) -> LogEvent { LogEvent(.warning, .brokerFault, text) }

    @Test func `a repeated line is written once, and counted after five minutes`() {
        var filter = RepeatFilter()
        #expect(filter.take(fault("away"), at: 0) == [fault("away")])
        for second in 1...17 { #expect(filter.take(fault("away"), at: Int64(second) * 1000).isEmpty) }
        #expect(filter.due(at: RepeatFilter.window - 1).isEmpty)
        let due = filter.due(at: RepeatFilter.window)
        #expect(due.map(\.message) == ["away (repeated 17 times in 5 min)"])
        #expect(due.first?.counts == [LogEvent.Count("repeated", 17)])
        // Still remembered: the next one is a repetition, too.
        #expect(filter.take(fault("away"), at: RepeatFilter.window + 1).isEmpty)
        #expect(filter.flush(at: RepeatFilter.window + 2_000).map(\.message) == ["away (repeated once in 2 s)"])
    }

    @Test func `a line that does not come again is forgotten, and written when it comes later`() {
        var filter = RepeatFilter()
        #expect(filter.take(fault("away"), at: 0).count == 1)
        #expect(filter.due(at: RepeatFilter.window).isEmpty)
        #expect(filter.take(fault("away"), at: RepeatFilter.window + 1) == [fault("away")])
        #expect(filter.flush(at: RepeatFilter.window + 2).isEmpty)
    }

    @Test func `a change is never held back`() {
        var filter = RepeatFilter()
        for second in 0..<5 as Range<Int64> {
            let event = LogEvent(.info, .brokerBack, "broker 1 (a:9092) is back, after 3 s")
            #expect(filter.take(event, at: second) == [event])
            let line = ClientLog.Line(severity: 6, client: "", facility: "TOKEN", text: "tokens come again")
            #expect(filter.take(LogEvent(line), at: second) == [LogEvent(line)])
        }
    }

    @Test func `lines of the library are the same whatever numbers they carry`() {
        var filter = RepeatFilter()
        func line(_ number: Int) -> LogEvent {
            LogEvent(.error, .clientLine, "rdkafka#producer-\(number): refused after \(number) ms")
        }
        #expect(filter.take(line(1), at: 0) == [line(1)])
        #expect(filter.take(line(2), at: 1).isEmpty)
        #expect(filter.flush(at: 2).map(\.message) == [line(2).message + " (repeated once in 1 s)"])
    }

    @Test func `more different lines than are remembered lose no count`() {
        var filter = RepeatFilter()
        var (written, given) = (0, 0)
        for round in 0..<3 {
            for number in 0..<(RepeatFilter.most + 10) {
                given += 1
                // Letters tell the lines apart.
                for event in filter.take(fault("line \(number)"), at: Int64(round)) {
                    written += event.counts.first?.value ?? 1
                }
            }
        }
        written += filter.flush(at: 10).reduce(0) { $0 + ($1.counts.first?.value ?? 1) }
        #expect(written == given)
    }
}
