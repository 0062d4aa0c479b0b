package import AppAttest

/// A token as the SDK stores it; it never reads the JWT.
package struct StockToken: Sendable, Equatable {
    package let text: String
    /// The time when the answer was handled plus the answer's `ttl`.
    package let expiresAt: EvaluationTime
    package let isLimitedUse: Bool
}

/// The outcome of one wish for a token.
package enum StockOutcome: Sendable, Equatable {
    case token(StockToken)
    /// The cached session token, with more than 5 minutes left.
    case cached(StockToken)
    /// No call was made: an earlier failure forbids it until then.
    case backingOff(until: EvaluationTime)
    /// The worker's HTTP status, outside 200 to 299.
    case refused(status: Int)
    /// A 2xx answer that the SDK cannot read, with the fault. No backoff follows.
    case unreadable(String)
    /// No answer came. No backoff follows.
    case disconnected
}

/// The client's reaction to an event: the wishes that it ended, in the order in which they came, and its next call.
package struct StockReply: Sendable, Equatable {
    package var outcomes: [StockOutcome]
    /// To be answered before any other event; nil = the client rests, or waits for the answer to an earlier call.
    package var call: StockCall?

    package init(outcomes: [StockOutcome] = [], call: StockCall? = nil) {
        self.outcomes = outcomes
        self.call = call
    }
}
