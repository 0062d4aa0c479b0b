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
    case ban(Digest, Ban)
    case challengeForgotten(Digest)
    case tokenForgotten(Digest)
    case keyForgotten(KeyID)
    case sealingKeyForgotten(UInt32)
    case markForgotten
    case banLifted(Digest)
}
