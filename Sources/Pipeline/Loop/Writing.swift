/// The commit of the oldest batch, where the unit is written away from the loop's thread.
///
///     none ── started ──▶ underWay ── done ──▶ ended ── outcome taken ──▶ none
///
/// Nothing takes back what was handed to the unit: the batch stays in flight until the outcome is known, through
/// aborts and lost partitions too. Its changes are applied after a success, and only then.
enum Writing: DrawnState {
    case none
    case underWay(Batch)
    /// The unit has the outcome.
    case ended(Batch)

    var batch: Batch? {
        switch self {
        case .none: nil
        case .underWay(let batch), .ended(let batch): batch
        }
    }

    func mayBecome(_ next: Writing) -> Bool {
        switch (self, next) {
        case (.none, .underWay), (.ended, .none): true
        case (.underWay(let batch), .ended(let same)): batch === same
        default: false
        }
    }
}
