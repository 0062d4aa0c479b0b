package import AppCheck
package import Pipeline
internal import Settings

/// Reports when a partition remembers as many used tokens as it may.
package struct SessionTokenMeter {
    private let log: EventLog
    private let limit: Int
    private var isReported = false

    package init(log: EventLog, limits: RequestLimits) {
        self.log = log
        limit = limits.sessionTokens
    }

    package mutating func update(_ tally: LoopTally) {
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
