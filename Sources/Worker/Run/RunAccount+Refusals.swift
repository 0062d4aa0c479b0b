internal import AppCheck
internal import Pipeline
internal import Settings

extension RunAccount {
    /// A line holds no more: there may be hundreds of apps with forty reasons each.
    private static let mostKinds = 10

    /// Refusals and deferrals that have no event: challenges, tokens, our own two verbs, and requests that name an
    /// unknown app or verb; the most frequent ones. nil = none.
    static func withoutEvents(_ tally: LoopTally) -> String? {
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

/// Reports when a partition remembers as many used tokens as it may.
struct SessionTokenMeter {
    private let log: EventLog
    private let limit: Int
    private var isReported = false

    init(log: EventLog, limits: RequestLimits) {
        self.log = log
        limit = limits.sessionTokens
    }

    mutating func update(_ tally: LoopTally) {
        guard !isReported, tally.sessionTokensOverLimit > 0 else { return }
        isReported = true
        log.log(
            .warning,
            .tokensFull,
            "session tokens are refused: a partition remembers \(limit.grouped) used tokens already; raise "
                + "limits.sessionTokens in worker.json, shorten tokenTtl, or use limited-use tokens"
        )
    }
}
