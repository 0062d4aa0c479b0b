/// An event of a group member's partitions; the loop hears them in their order.
package enum PartitionEvent: Sendable, Equatable {
    /// These partitions are ours, under the number that the loop's answers carry. Sent again for partitions that we own
    /// where it is unknown what was committed, or read. Answered with ``GroupMember/restore(kept:of:)``.
    ///
    /// `isNews` = not all of them were ours already.
    case assigned([Int32], of: Generation, isNews: Bool)
    /// Records of the ledgers, in offset order within each partition, and how many offsets of all are left to read. What
    /// comes of a partition that has started may be its own commits, read back after later ones.
    case ledger(StoredRecords, left: Int64)
    /// The ledger was read to its end of the moment it was asked for. Answered with
    /// ``GroupMember/ledgerIsWhole(_:mark:isEmpty:of:)`` or ``GroupMember/ledgerIsUnusable(_:_:of:)``.
    case ledgerGiven(Int32)
    /// A kept ledger knows more than the topic has, which lost committed records: it is read from its beginning.
    case ledgerDropped(Int32)
    /// The partition is read from now on. The report has what earlier ones have not.
    case started(Int32, PartitionStart.Report)
    /// The partition is not read until it is taken away, or assigned again: the sentence says what happened and what
    /// helps. `isNews` = that was not said yet. If its ledger was being read, no more of it comes.
    case held(Int32, String, isNews: Bool)
    /// Revoked in order: complete work may still be committed before ``GroupMember/release()``.
    case revoked([Int32])
    /// Gone already: no work on them may be committed.
    case lost([Int32])
}

/// A change of the assignment, as counts and notices name it.
package enum Rebalance: String, Sendable, CaseIterable { case assigned, revoked, lost }
