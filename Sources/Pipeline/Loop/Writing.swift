/// The commit of the oldest batch.
///
///     none ── handed over ──▶ underWay ── outcome taken ──▶ none
///
/// Nothing takes back what was handed to the unit: the batch stays in flight until the outcome is known, through
/// aborts and lost partitions too. Its changes are applied after a success, and only then.
enum Writing: DrawnState {
    case none
    case underWay(Batch)

    var batch: Batch? { if case .underWay(let batch) = self { batch } else { nil } }

    func mayBecome(_ next: Writing) -> Bool {
        switch (self, next) {
        case (.none, .underWay), (.underWay, .none): true
        default: false
        }
    }
}
