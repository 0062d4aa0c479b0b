package import AppAttest
package import Crypto

/// An id that may be used once, and was: of a challenge with a key, or of a token.
package struct ConsumedID: Hashable, Sendable {
    /// The time at which it would expire and be refused anyway.
    package var expiresAt: EvaluationTime
    /// The request that used it, so that its redelivery gets the same answer.
    package var request: Digest

    package init(expiresAt: EvaluationTime, request: Digest) {
        self.expiresAt = expiresAt
        self.request = request
    }
}
