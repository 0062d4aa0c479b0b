internal import AppCheck
internal import CommandFrame
internal import JSON
internal import Pipeline
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
        var json = JSONWriter()
        json.beginObject()
        json.member("requests", tally.requests)
        json.member("accepted", tally.accepted)
        json.key("refused")
        Self.write(tally.refused, into: &json)
        json.key("refusedBy")
        Self.write(tally.refusals, into: &json)
        json.member("deferred", tally.deferred)
        json.member("deadLetters", tally.deadLettersTotal)
        if tally.skippedLines > 0 { json.member("skippedLines", tally.skippedLines) }
        if tally.repeatedRecords > 0 { json.member("repeatedRecords", tally.repeatedRecords) }
        json.member("seconds", raw: Array(Self.decimal(seconds, digits: 6).utf8))
        json.member("recordsPerSecond", raw: Array(Self.decimal(recordsPerSecond, digits: 1).utf8))
        json.member("lanes", lanes)
        json.member("engine", engine)
        json.endObject()
        return json.bytes + [0x0A]
    }

    /// A list of objects: app and verb are null if the registry or the contract does not have that name.
    private static func write(_ refusals: RefusalCounts, into json: inout JSONWriter) {
        json.beginArray()
        for line in refusals.lines {
            json.beginObject()
            for (name, text) in [("app", line.key.app), ("verb", line.key.verb?.rawValue)] {
                json.key(named: name)
                if let text { json.string(text) } else { json.null() }
            }
            json.member("reason", line.key.reason.code)
            json.member("count", line.count)
            json.endObject()
        }
        json.endArray()
    }

    /// The table and a line of rates.
    package var text: String {
        var table = TextTable([.left, .right, .right])
        table.add("outcome", "records", "share")
        func row(_ name: String, _ count: Int) {
            let share = tally.requests == 0 ? 0 : Double(count) / Double(tally.requests) * 100
            table.add(name, count.grouped, Self.decimal(share, digits: 2) + " %")
        }
        row("accepted", tally.accepted)
        for (reason, count) in Self.sorted(tally.refused) { row("refused: \(reason)", count) }
        if tally.deferred > 0 { row("deferred", tally.deferred) }
        for (reason, count) in Self.sorted(tally.deadLetters) { row("dead letter: \(reason)", count) }
        row("requests", tally.requests)
        return table.text + "\n\n" + rates
    }

    private var rates: String {
        var parts = [
            "\(Self.decimal(seconds, digits: 2)) s", "\(Int(recordsPerSecond.rounded()).grouped) records/s",
            lanes.counted("lane"), "engine \(engine)", signatures.counted("signature"),
        ]
        if let each = microsecondsPerSignature { parts.append("\(Self.decimal(each, digits: 1)) µs per signature") }
        return parts.joined(separator: ", ")
    }

    private static func sorted(_ counts: [String: Int]) -> [(String, Int)] {
        counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
    }

    private static func write(_ counts: [String: Int], into json: inout JSONWriter) {
        json.beginObject()
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) {
            json.key(named: reason)
            json.value(count)
        }
        json.endObject()
    }

    /// Fixed-point text, independent of any locale.
    private static func decimal(_ value: Double, digits: Int) -> String {
        guard value.isFinite, value >= 0, value < 1e12 else { return "0" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((value * scale).rounded())
        guard digits > 0 else { return String(scaled) }
        let fraction = String(scaled % Int(scale))
        return "\(scaled / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
