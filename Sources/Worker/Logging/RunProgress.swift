internal import Pipeline

/// The progress of `run` on a terminal's last line.
enum RunProgress {
    /// - Parameters:
    ///   - rate: requests per second over the last ten seconds.
    ///   - lag: records that are still to be read; nil = not known.
    static func line(_ tally: LoopTally, rate: Double, lag: Int?) -> String {
        var parts = ["\(tally.requests.counted("request"))", "\(Int(rate).grouped)/s"]
        if let lag { parts.append("lag \(lag.grouped)") }
        let others = [
            (tally.refusedTotal, "refused"), (tally.deferred, "deferred"), (tally.deadLettersTotal, "dead letters"),
        ]
        for (count, name) in others where count > 0 { parts.append("\(count.grouped) \(name)") }
        return "run: " + parts.joined(separator: ", ")
    }
}
