package import AppAttest

/// A token as the SDK keeps it; it never looks into the JWT.
package struct StockToken: Sendable, Equatable {
    package let text: String
    /// The time at which the answer was handled plus the answer's `ttl`.
    package let expiresAt: EvaluationTime
    package let isLimitedUse: Bool
}

/// What came of one wish for a token.
package enum StockOutcome: Sendable, Equatable {
    case token(StockToken)
    /// The session token that was there, with more than 5 minutes left.
    case cached(StockToken)
    /// No call was made: an earlier failure forbids it until then.
    case backingOff(until: EvaluationTime)
    /// The worker's HTTP status, outside 200 to 299.
    case refused(status: Int)
    /// A 2xx answer that the SDK cannot read; what is wrong with it. No backoff follows.
    case unreadable(String)
    /// No answer came. No backoff follows.
    case disconnected
}

/// What the client says to an event: the wishes that it ended, in the order in which they came, and its next call.
package struct StockReply: Sendable, Equatable {
    package var outcomes: [StockOutcome]
    /// To be answered before anything else happens; nil = the client rests, or waits for the answer to an earlier call.
    package var call: StockCall?

    package init(outcomes: [StockOutcome] = [], call: StockCall? = nil) {
        self.outcomes = outcomes
        self.call = call
    }
}
