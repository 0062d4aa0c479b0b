internal import Settings

package struct RunFacts {
    let version: String
    let configuration: String
    /// The captures in the order in which they were read; bytes are nil for what has no size.
    package var captures: [(path: String, bytes: Int?)] = []
    package var keys: String?
    /// Results that verdicts are compared with.
    package var old: String?
    package var mints = false
    package var seconds = 0.0
    package var lanes = 1
    package var engine = ""
    package var warnings: [String] = []
    /// nil = a line that is not a record ended the run.
    package var skippedLines: Int?

    package init(version: String, configuration: String) {
        (self.version, self.configuration) = (version, configuration)
    }

    static let mostCaptures = 20

    /// A command that explains a record of these captures.
    func explains(_ place: String) -> String {
        var words = ["attest-worker", "inspect", "--config", configuration]
        let paths = captures.prefix(Self.mostCaptures).map(\.path)
        if let keys { words += ["--keys", keys == "-" ? "KEYS" : keys] }
        if skippedLines != nil { words.append("--skip-bad-lines") }
        words += ["--input", paths.count == 1 && paths[0] != "-" ? paths[0] : "-", "--record", place]
        let command = words.map(Self.quoted).joined(separator: " ")
        if paths.contains("-") { return "cat CAPTURE | " + command }
        // The state comes from all captures before the record, so they are read as one again.
        guard captures.count > 1 else { return command }
        let rest = captures.count > paths.count ? " …" : ""
        return "cat " + paths.map(Self.quoted).joined(separator: " ") + rest + " | " + command
    }

    /// A word of a shell's command line.
    static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || "-_./:=,+@%".unicodeScalars.contains(scalar)
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}

/// 10: the run itself. What differs from run to run stands here alone.
extension ReplayReport {
    var about: [Report.Part] {
        let table = Report.Table(rows)
        let judged =
            "A replay judges each record as of its own time. It does not judge a record's age, the partition of a key, "
            + "and attestationsPerSecond." + (run.mints ? "" : " Nothing was minted.")
        guard run.seconds > 0 else { return [.table(table), .text(judged)] }
        let rate = Int((Double(facts.total) / run.seconds).rounded())
        let speed = "Took \(Figure.fixed(run.seconds, 2)) s: \(rate.grouped) records a second."
        return [.table(table), .text(judged), .text(speed)]
    }

    private var rows: [(String, String)] {
        var rows = [("program", "attest-worker \(run.version)"), ("configuration", run.configuration)]
        for capture in run.captures.prefix(RunFacts.mostCaptures) {
            rows.append(("capture", capture.path + (capture.bytes.map { ", " + Figure.bytes($0) } ?? "")))
        }
        let more = run.captures.count - RunFacts.mostCaptures
        if more > 0 { rows.append(("more captures", more.grouped)) }
        if let keys = run.keys { rows.append(("keys", keys)) }
        if let old = run.old { rows.append(("compared with", old)) }
        rows += [("lanes", run.lanes.grouped), ("signature engine", run.engine)]
        if let skipped = run.skippedLines, skipped > 0 { rows.append(("lines left out", skipped.grouped)) }
        return rows + run.warnings.map { ("warning", $0) }
    }
}
