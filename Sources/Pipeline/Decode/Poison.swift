internal import Log

/// Records that become dead letters before they are looked at.
struct Poison: Sendable {
    /// The log refused their outputs: only the shortest dead letter is tried.
    var refused: Set<RecordPlace> = []
    /// They crash the process.
    var crashing: Set<WorkItem> = []

    var isEmpty: Bool { refused.isEmpty && crashing.isEmpty }
}
