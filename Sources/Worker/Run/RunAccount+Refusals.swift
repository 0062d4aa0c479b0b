internal import AppCheck
internal import Pipeline
internal import Settings

extension RunAccount {
    /// Refusals and deferrals that have no event: challenges, tokens, our own two verbs, and requests that name an
    /// unknown app or verb. nil = none.
    static func withoutEvents(_ tally: LoopTally) -> String? {
        let lines = tally.refusals.lines.filter { !hasEvent($0.key) }
        guard !lines.isEmpty else { return nil }
        let texts = lines.map { key, count in
            "\(key.app.map(\.printable) ?? "no app") \(key.verb?.rawValue ?? "other verbs") \(key.reason.code) \(count.grouped)"
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
