/// News of the group: which partitions are ours.
package enum AssignmentChange: Sendable, Equatable {
    /// Ours from here on; also sent again, for partitions that are ours already, after an abort that leaves open what
    /// was committed. Answered with ``LedgerSource/beginRestore(_:kept:)``; no record of a partition comes before
    /// ``GroupMember/start(_:mark:ledgerIsEmpty:)``.
    case assigned([Int32])
    /// Revoked in order: complete work may still be committed before ``GroupMember/releaseRevoked()``.
    case revoked([Int32])
    /// Gone already: no work on them may be committed.
    case lost([Int32])
}
