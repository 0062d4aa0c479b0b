internal import Pipeline

/// The account that `run` prints when it ends.
enum RunAccount {
    /// One line: every request is in one of its counts, and every refusal under its reason.
    static func line(_ tally: LoopTally) -> String {
        let duplicates = tally.duplicates > 0 ? " (\(tally.duplicates.grouped) of them duplicates)" : ""
        let parts = [
            "\(tally.accepted.grouped) accepted\(duplicates)",
            "\(tally.refusedTotal.grouped) refused\(reasons(tally.refused))",
            "\(tally.deferred.grouped) deferred",
            "\(tally.deadLettersTotal.counted("dead letter"))\(reasons(tally.deadLetters))",
        ]
        return "\(tally.requests.counted("request")): \(parts.joined(separator: ", ")); "
            + "\(tally.batches.counted("commit")), \(tally.aborts.counted("abort"))"
    }

    /// The same in numbers.
    static func counts(_ tally: LoopTally) -> [LogEvent.Count] {
        [
            LogEvent.Count("requests", tally.requests), LogEvent.Count("accepted", tally.accepted),
            LogEvent.Count("duplicates", tally.duplicates), LogEvent.Count("refused", tally.refusedTotal),
            LogEvent.Count("deferred", tally.deferred), LogEvent.Count("deadLetters", tally.deadLettersTotal),
            LogEvent.Count("commits", tally.batches), LogEvent.Count("aborts", tally.aborts),
        ]
    }

    /// The most frequent first.
    private static func reasons(_ counts: [String: Int]) -> String {
        guard !counts.isEmpty else { return "" }
        let sorted = counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        return " (\(sorted.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")))"
    }
}
