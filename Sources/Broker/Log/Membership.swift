internal import Kafka
internal import Pipeline

/// Our place in the group.
///
///     waiting ── assigned ──▶ arriving ── announced ────▶ owning
///        ▲                     │    ▲ └◀─ taken over again ──┘ │
///        │                     │ gone                     gone │
///        ├── given back ──── revoked ◀─────────────────────────┘
///        └── joined again ── expelled ◀── consumer replaced, in any state
///
/// The group may assign again, or take partitions away that we do not have yet; what it assigns before it has our answer
/// is given back with the rest. An expelled member gets no assignment until it has joined again.
enum Membership: DrawnState {
    /// Nothing is assigned.
    case waiting
    /// The loop does not know of the assignment yet; the membership is the one before it.
    case arriving(Arrival, GroupMetadata?)
    /// With the membership, the broker rejects commits of an earlier assignment.
    case owning(GroupMetadata)
    /// The loop may still commit under the last membership, and then gives the partitions back.
    case revoked(GroupMetadata?)
    /// The consumer is new, and joins once the loop has let the old one's partitions go.
    case expelled

    var arrival: Arrival? { if case .arriving(let arrival, _) = self { arrival } else { nil } }

    /// Under which batches were polled.
    var metadata: GroupMetadata? {
        switch self {
        case .waiting, .expelled: nil
        case .arriving(_, let metadata), .revoked(let metadata): metadata
        case .owning(let metadata): metadata
        }
    }

    /// Whether the partitions are left to their next owner.
    var isLeaving: Bool {
        switch self {
        case .revoked, .expelled: true
        default: false
        }
    }

    /// After the group took the partitions away.
    var leaving: Membership { if case .expelled = self { self } else { .revoked(metadata) } }

    func mayBecome(_ next: Membership) -> Bool {
        switch (self, next) {
        case (_, .expelled), (.expelled, .waiting): true
        case (.expelled, _): false
        case (_, .arriving), (_, .revoked): true
        case (.arriving, .owning): true
        case (.revoked, .waiting): true
        default: false
        }
    }
}
