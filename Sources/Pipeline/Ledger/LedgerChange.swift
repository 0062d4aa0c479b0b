package import AppAttest
package import Crypto

/// One record of the ledger topic. ``LedgerCodec`` defines the bytes.
package enum LedgerChange: Sendable, Equatable {
    case key(KeyID, KeyRecord)
    case challenge(Digest, ConsumedID)
    case token(Digest, ConsumedID)
    /// How far the partition is. At-least-once delivery writes it after everything that was applied and before the ids
    /// that are forgotten.
    case mark(PartitionMark)
    case rate(app: String, RateCount)
    /// A sealing key under which artifacts were issued, by the id in them.
    case sealingKey(UInt32, since: EvaluationTime)
    case challengeForgotten(Digest)
    case tokenForgotten(Digest)
    case keyForgotten(KeyID)
    case sealingKeyForgotten(UInt32)
    case markForgotten
}

/// An id that may be used once, and was: of a challenge with a key, or of a token.
package struct ConsumedID: Hashable, Sendable {
    /// When it would expire and be refused anyway.
    package var expiresAt: EvaluationTime
    /// The request that used it, so that its redelivery gets the same answer.
    package var request: Digest

    package init(expiresAt: EvaluationTime, request: Digest) {
        self.expiresAt = expiresAt
        self.request = request
    }
}

/// An app's admitted attestations since `start`, on one partition.
package struct RateCount: Hashable, Sendable {
    package var start: EvaluationTime
    package var count: UInt64

    package init(start: EvaluationTime, count: UInt64) {
        self.start = start
        self.count = count
    }
}
