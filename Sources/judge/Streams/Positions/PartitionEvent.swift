/// An event of a group member's partitions; the loop hears them in their order.
package enum PartitionEvent: Sendable, Equatable {
    /// These partitions are ours, under the number that the loop's answers carry. Sent again for partitions that we own
    /// where it is unknown what was committed, or read. Answered with ``GroupMember/restore(kept:of:)``.
    ///
    /// `isNew` = not all of them were ours already.
    case assigned([Int32], of: Generation, isNew: Bool)
    /// Records of the ledgers, in offset order within each partition, and how many offsets of all are left to read. What
    /// comes of a partition that has started may be its own commits, read back after later ones.
    case ledger(StoredRecords, left: Int64)
    /// The ledger begins with a copy of it as of a commit; the records that follow count in their order.
    case ledgerCopied(Int32)
    /// The ledger was read to its end of the moment it was asked for. Answered with
    /// ``GroupMember/ledgerIsWhole(_:mark:isEmpty:of:)`` or ``GroupMember/ledgerIsUnusable(_:_:of:)``.
    case ledgerGiven(Int32)
    /// A kept ledger knows more than the topic has, which lost committed records: it is read from its beginning.
    case ledgerDropped(Int32)
    /// The partition is read from now on. The report has what earlier ones have not.
    case started(Int32, PartitionStart.Report)
    /// The partition is not read until it is taken away, or assigned again: the sentence says what happened and what
    /// helps. `isNew` = that was not said yet. If its ledger was being read, no more of it comes.
    case held(Int32, String, isNew: Bool)
    /// Revoked in order: complete work may still be committed before ``GroupMember/release()``.
    case revoked([Int32])
    /// Gone already: no work on them may be committed.
    case lost([Int32])
}

/// News of the ledgers that a standby follows: those of partitions of others.
package enum StandbyEvent: Sendable, Equatable {
    /// Nothing counts of what came of a partition's ledger: what comes next is read from its beginning.
    case emptied(Int32)
    /// Records of the ledgers, in offset order within each partition.
    case records(StoredRecords)
    /// The ledger was read to its end, and a mark proves which one it is: from here on it counts as a kept one.
    case whole(Int32)
    /// Nothing more of a ledger that is not whole comes.
    case left(Int32)
    /// A moment ago these were as the topic is.
    case current([Int32])
}

/// A change of the assignment, as counts and notices name it.
package enum Rebalance: String, Sendable, CaseIterable { case assigned, revoked, lost }

/// The place where reading of a partition starts.
package enum PartitionStart {
    package struct Report: Sendable, Equatable {
        /// An upper bound of the requests that will never be read: retention deleted them, or the offset was moved
        /// forward.
        package var skippedAtMost: Int64 = 0
        /// An upper bound of the requests among these that retention deleted.
        package var deletedAtMost: Int64 = 0
        /// A note for the operator; nil = none.
        package var note: String?
        /// The group has an offset of the partition that a worker committed; if not, at-least-once delivery marks that.
        package var hasCommitted = true
        /// An offset after the group's, up to which everything is answered: the ledger's mark. The member commits it
        /// before it reads, because no later request may arrive whose batch would commit it. Where retention has taken
        /// more, reading starts after it; but an offset of ours that no mark belongs to would look like a lost ledger.
        package var uncommitted: Int64?

        package init() {}
    }
}

/// A partition with records that can no longer be read as they were written.
package struct PartitionDamage: Sendable, Equatable {
    package let partition: Int32
    /// The place that was read, and the source's message.
    package let cause: String
    /// Whether the damage is in the ledger; else it is in the requests.
    package let isLedger: Bool

    package init(partition: Int32, cause: String, isLedger: Bool) {
        (self.partition, self.cause, self.isLedger) = (partition, cause, isLedger)
    }

    /// The sentence for the operator: what happened and what helps.
    package var sentence: String {
        let way =
            isLedger
            ? "export the other partitions with attest-worker export-keys --config DIR --partitions, recreate the ledger topic, and fill it "
                + "with attest-worker import-keys --config DIR: that forgets its keys, and used challenges and tokens"
            : "skip them with attest-worker reset --config DIR --offsets-only --partitions \(partition) --to-offset N"
        return "\(cause): bytes on the broker's disk are damaged; restore the replica from another one, or \(way)"
    }
}
