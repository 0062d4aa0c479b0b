internal import Settings

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
        rows.append(("lanes", run.lanes.grouped))
        rows.append(("signature engine", run.engine))
        if let skipped = run.skippedLines, skipped > 0 { rows.append(("lines left out", skipped.grouped)) }
        return rows + run.warnings.map { ("warning", $0) }
    }
}
