package import AppAttest
package import Crypto

/// One record of the ledger topic. ``LedgerCodec`` tells the bytes.
package enum LedgerChange: Sendable, Equatable {
    case key(KeyID, KeyRecord)
    case challenge(Digest, ConsumedID)
    case token(Digest, ConsumedID)
    /// How far the partition is. At-least-once delivery writes it behind everything that was applied, before what is
    /// forgotten.
    case mark(PartitionMark)
    case rate(app: String, RateCount)
    /// A sealing key under which artifacts were issued, by the id that stands in them.
    case sealingKey(UInt32, since: EvaluationTime)
    case challengeForgotten(Digest)
    case tokenForgotten(Digest)
    case keyForgotten(KeyID)
    case sealingKeyForgotten(UInt32)
    case markForgotten
}

/// Something that may be used once, and was: a challenge with a key, or a token's id.
package struct ConsumedID: Hashable, Sendable {
    /// From when on it would be refused as expired anyway.
    package var expiresAt: EvaluationTime
    /// Whose request it was, so that the same one redelivered gets the same answer.
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
