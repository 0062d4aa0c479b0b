internal import AppAttest
internal import Streams

/// The loop's work on its assignment.
///
///                ┌─ revoked ──▶ revoking ─┐
///     settled ───┼─ lost ─────▶ losing ───┴─ given back ─▶ settled
///        ▲       └─ assigned ─▶ taking ───── begun ──────▶ restoring
///        └───── all started, or interrupted: forgotten ───────┘
///
/// A change is finished when nothing is in flight; one that comes before that replaces it.
enum AssignmentPhase: DrawnState {
    /// No change is pending, and every ledger is whole.
    case settled
    case taking([Int32], of: Generation)
    /// The group waits for the oldest batch, in live mode for a limited time.
    case revoking([Int32], until: EvaluationTime?)
    case losing([Int32])
    case restoring(Restoration)

    var restoration: Restoration? { if case .restoring(let restoration) = self { restoration } else { nil } }

    var isChanging: Bool {
        switch self {
        case .settled, .restoring: false
        case .taking, .revoking, .losing: true
        }
    }

    func mayBecome(_ next: AssignmentPhase) -> Bool {
        switch (self, next) {
        case (.restoring, .settled), (.taking, .restoring), (.revoking, .settled), (.losing, .settled): true
        case (.restoring, _): false
        case (_, .taking), (_, .revoking), (_, .losing): true
        default: false
        }
    }
}
