package import AppAttest

/// A token as the SDK stores it; it never reads the JWT.
package struct StockToken: Sendable, Equatable {
    package let text: String
    /// The time when the answer was handled plus the answer's `ttl`.
    package let expiresAt: EvaluationTime
    package let isLimitedUse: Bool
}
