/// News of the group: which partitions are ours.
package enum AssignmentChange: Sendable, Equatable {
    /// These partitions are assigned. Sent again for partitions that we own if an abort leaves it unknown what was
    /// committed. Answered with ``LedgerSource/beginRestore(_:kept:)``; no record of a partition comes before
    /// ``GroupMember/start(_:mark:ledgerIsEmpty:)``.
    case assigned([Int32])
    /// Revoked in order: complete work may still be committed before ``GroupMember/releaseRevoked()``.
    case revoked([Int32])
    /// Gone already: no work on them may be committed.
    case lost([Int32])

    package var partitions: [Int32] {
        switch self {
        case .assigned(let partitions), .revoked(let partitions), .lost(let partitions): partitions
        }
    }

    package enum Kind: String, Sendable, CaseIterable { case assigned, revoked, lost }

    package var kind: Kind {
        switch self {
        case .assigned: .assigned
        case .revoked: .revoked
        case .lost: .lost
        }
    }
}
