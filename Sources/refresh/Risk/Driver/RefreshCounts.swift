package import AppAttest

/// What a refresher's metrics show of its calls.
package struct RefreshCounts: Sendable, Equatable {
    package struct Kind: Hashable, Sendable {
        package let environment: Environment
        /// See ``CallOutcome/name``.
        package let outcome: String

        package init(_ environment: Environment, _ outcome: String) {
            (self.environment, self.outcome) = (environment, outcome)
        }
    }

    package private(set) var calls: [Kind: Int] = [:]
    /// When a verified receipt came last.
    package private(set) var lastSuccess: [Environment: EvaluationTime] = [:]

    package init() {}

    mutating func note(_ outcome: CallOutcome, _ environment: Environment, at time: EvaluationTime) {
        calls[Kind(environment, outcome.name), default: 0] += 1
        if case .verified = outcome { lastSuccess[environment] = time }
    }
}

/// What a refresher's metrics show of its state at one time.
package struct RefreshFigures: Sendable, Equatable {
    package var counts = RefreshCounts()
    package var inFlight: [Environment: Int] = [:]
    /// Milliseconds for which the oldest visit of each line has been due; 0 while none is.
    package var lags: [ReceiptLine: Int64] = [:]
    package var rates: [Environment: Double] = [:]
    /// Accounts with a breaker that has something to remember, and whether it is open.
    package var breakers: [CallAccount: Bool] = [:]
    /// Milliseconds from Apple's clock until ours; nil before the first answer with a date.
    package var clockOffset: Int64?
    package var isClockRight = true
    package var pairs = 0
    package var heldBytes = 0

    package init() {}
}

extension RefreshDriver {
    package func figures(at time: EvaluationTime) -> RefreshFigures {
        var figures = RefreshFigures()
        figures.counts = counts
        for environment in Environment.allCases {
            figures.inFlight[environment] = inFlight(environment)
            figures.rates[environment] = desk.bucket.rate(in: environment)
        }
        for line in ReceiptLine.allCases { figures.lags[line] = desk.lag(of: line, at: time) ?? 0 }
        // A call may end after a reload has taken its team's key away: such a breaker waits for nothing.
        figures.breakers = desk.breakers.filter { prefixes[$0.key.team] != nil }.mapValues(\.isOpen)
        (figures.clockOffset, figures.isClockRight) = (desk.clock.offset, desk.clock.isReady)
        (figures.pairs, figures.heldBytes) = (desk.pairs.count, heldBytes)
        return figures
    }
}
