/// Tells partitions that cannot be sought yet from those that the library reads no more.
///
/// Behind an offset that is gone the library stops reading a partition for good, and refuses every seek: only a new
/// assignment starts it again. It costs a restore, so each one waits longer than the one before.
struct StuckRewind {
    private static let first = Duration.seconds(2)
    private static let most = Duration.seconds(60)

    private var patience = first
    private var since: ContinuousClock.Instant?

    /// Notes that a seek has failed. - Returns: whether the partitions are to be assigned again.
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
