internal import AppCheck
internal import CommandFrame
internal import Pipeline
internal import Reports
internal import Settings

/// The outcome of a replay: the table for people and the `--summary` file for tools.
package struct ReplaySummary {
    var tally: LoopTally
    /// Lines about the records left out of the capture.
    package var warnings: [String] = []
    /// The time from the first record read to the last output flushed, in seconds.
    var seconds: Double
    var lanes: Int
    var engine: String
    var signatures: Int
    var microsecondsPerSignature: Double?
    /// The report's facts as JSON; nil where nobody wants them.
    package var report: [UInt8]?

    private var recordsPerSecond: Double { seconds > 0 ? Double(tally.requests) / seconds : 0 }

    /// The summary file: one JSON object and a newline.
    package var json: [UInt8] {
        // App and verb are null if the registry or the contract does not have that name.
        let refusedBy = tally.refusals.lines.map { line -> Facts in
            [
                "app": .textOrNull(line.key.app), "verb": .textOrNull(line.key.verb?.rawValue),
                "reason": .text(line.key.reason.code), "count": .count(line.count),
            ]
        }
        let facts: Facts = [
            "requests": .count(tally.requests), "accepted": .count(tally.accepted), "refused": .counts(tally.refused),
            "refusedBy": .list(refusedBy), "deferred": .count(tally.deferred),
            "deadLetters": .count(tally.deadLettersTotal),
            "skippedLines": tally.skippedLines > 0 ? .count(tally.skippedLines) : nil,
            "repeatedRecords": tally.repeatedRecords > 0 ? .count(tally.repeatedRecords) : nil,
            "seconds": .figure(seconds, digits: 6), "recordsPerSecond": .figure(recordsPerSecond, digits: 1),
            "lanes": .count(lanes), "engine": .text(engine),
        ]
        return facts.json + [0x0A]
    }

    /// The table and a line of rates.
    package var text: String {
        var table = TextTable([.left, .right, .right])
        table.add("outcome", "records", "share")
        func row(_ name: String, _ count: Int) {
            let share = tally.requests == 0 ? 0 : Double(count) / Double(tally.requests) * 100
            table.add(name, count.grouped, Figure.plain(share, 2) + " %")
        }
        row("accepted", tally.accepted)
        for (reason, count) in tally.refused.ranked { row("refused: \(reason)", count) }
        if tally.deferred > 0 { row("deferred", tally.deferred) }
        for (reason, count) in tally.deadLetters.ranked { row("dead letter: \(reason)", count) }
        row("requests", tally.requests)
        return table.text + "\n\n" + rates
    }

    private var rates: String {
        var parts = [
            "\(Figure.plain(seconds, 2)) s", "\(Int(recordsPerSecond.rounded()).grouped) records/s",
            lanes.counted("lane"), "engine \(engine)", signatures.counted("signature"),
        ]
        if let each = microsecondsPerSignature { parts.append("\(Figure.plain(each, 1)) µs per signature") }
        return parts.joined(separator: ", ")
    }
}
