/// Distinguishes bytes damaged on disk from bytes damaged in transit: only the former are damaged on every read.
struct DamageTracker: Equatable {
    /// How many times in a row the same place must be unreadable.
    private static let most = 3

    private var position: Int64?
    private var times = 0

    /// - Parameter position: the offset before which everything was read.
    /// - Returns: whether reading it once more is useless.
    mutating func note(at position: Int64) -> Bool {
        times = position == self.position ? times + 1 : 1
        self.position = position
        guard times >= Self.most else { return false }
        self = DamageTracker()
        return true
    }
}

/// Distinguishes partitions that cannot be sought yet from those that the library has stopped reading.
///
/// After an offset is gone the library stops reading a partition for good and refuses every seek: only a new assignment
/// starts it again. That costs a restore, so each one waits longer than the one before.
struct SeekBackoff: Equatable {
    private static let first: Int64 = 2_000
    private static let most: Int64 = 60_000

    private var interval = first

    /// - Parameter milliseconds: since the first seek that failed.
    /// - Returns: whether to assign the partitions again.
    mutating func isOver(after milliseconds: Int64) -> Bool {
        guard milliseconds >= interval else { return false }
        interval = min(interval * 2, Self.most)
        return true
    }
}
