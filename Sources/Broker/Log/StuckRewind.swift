/// Distinguishes partitions that cannot be sought yet from those that the library has stopped reading.
///
/// After an offset is gone the library stops reading a partition for good and refuses every seek: only a new assignment
/// starts it again. That costs a restore, so each one waits longer than the one before.
struct StuckRewind {
    private static let first = Duration.seconds(2)
    private static let most = Duration.seconds(60)

    private var patience = first
    private var since: ContinuousClock.Instant?

    /// Notes a failed seek. - Returns: whether to assign the partitions again.
    mutating func isOver(at now: ContinuousClock.Instant = .now) -> Bool {
        guard let since else {
            since = now
            return false
        }
        guard now - since >= patience else { return false }
        patience = min(patience * 2, Self.most)
        self.since = nil
        return true
    }
}
