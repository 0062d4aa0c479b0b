package import AppAttest

/// What a refresher's metrics show of its calls.
package struct RefreshCounts: Sendable, Equatable {
    package struct Kind: Hashable, Sendable {
        package let environment: Environment
        /// See ``CallOutcome/name``.
        package let outcome: String
    }

    package private(set) var calls: [Kind: Int] = [:]
    /// Receipts that a line has skipped, after their last call.
    package private(set) var skipped: [Environment: Int] = [:]
    /// When a verified receipt came last.
    package private(set) var lastSuccess: [Environment: EvaluationTime] = [:]

    mutating func note(_ outcome: CallOutcome, _ environment: Environment, at time: EvaluationTime) {
        calls[Kind(environment: environment, outcome: outcome.name), default: 0] += 1
        if case .verified = outcome { lastSuccess[environment] = time }
    }

    mutating func noteSkipped(_ environment: Environment) { skipped[environment, default: 0] += 1 }
}

/// What a refresher's metrics show of its state at one time.
package struct RefreshFigures: Sendable, Equatable {
    package var counts = RefreshCounts()
    package var inFlight: [Environment: Int] = [:]
    /// Milliseconds for which the oldest exchange of each line has been due; 0 while none is.
    package var lags: [ReceiptLine: Int64] = [:]
    package var rates: [Environment: Double] = [:]
    /// Accounts with a breaker that has something to remember, and whether it is open.
    package var breakers: [CallAccount: Bool] = [:]
    /// Milliseconds from Apple's clock until ours; nil before the first answer with a date.
    package var clockOffset: Int64?
    package var isClockRight = true

    package init() {}
}

extension RefreshDriver {
    package func figures(at time: EvaluationTime) -> RefreshFigures {
        var figures = RefreshFigures()
        figures.counts = counts
        for environment in Environment.allCases {
            figures.inFlight[environment] = inFlight(environment)
            figures.rates[environment] = bucket.rate(in: environment)
        }
        for line in ReceiptLine.allCases { figures.lags[line] = lag(of: line, at: time) ?? 0 }
        figures.breakers = breakers.mapValues(\.isOpen)
        (figures.clockOffset, figures.isClockRight) = (clock.offset, clock.isReady)
        return figures
    }
}
