internal import AppCheck
package import Pipeline
internal import Settings

/// The account that `run` prints when it ends.
package enum RunAccount {
    /// One line: every request is in one of its counts, and every refusal under its reason.
    package static func line(_ tally: LoopTally) -> String {
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
    package static func counts(_ tally: LoopTally) -> [LogEvent.Count] {
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

    /// A line holds no more: there may be hundreds of apps with forty reasons each.
    private static let mostKinds = 10

    /// Refusals and deferrals that have no event: challenges, tokens, our own two verbs, and requests that name an
    /// unknown app or verb; the most frequent ones. nil = none.
    package static func withoutEvents(_ tally: LoopTally) -> String? {
        // Stable: those of one frequency stay in the order of apps and verbs.
        let lines = tally.refusals.lines.filter { !hasEvent($0.key) }.enumerated()
            .sorted { ($0.element.count, -$0.offset) > ($1.element.count, -$1.offset) }.map(\.element)
        guard !lines.isEmpty else { return nil }
        var texts = lines.prefix(mostKinds).map { key, count in
            "\(key.app.map(\.printable) ?? "no app") \(key.verb?.rawValue ?? "other verbs") \(key.reason.code) \(count.grouped)"
        }
        let rest = lines.dropFirst(mostKinds)
        if !rest.isEmpty {
            let count = rest.reduce(0) { $0 + $1.count }
            texts.append("and \(count.grouped) of \(rest.count.counted("other kind")) (attest_requests_total has all)")
        }
        return "without an event: " + texts.joined(separator: ", ")
    }

    private static func hasEvent(_ key: RefusalCounts.Key) -> Bool {
        key.verb?.isExchange == true && key.app != nil && key.reason.status(appID: nil).code != 503
    }
}
