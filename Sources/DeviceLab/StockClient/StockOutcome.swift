package import AppAttest

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
