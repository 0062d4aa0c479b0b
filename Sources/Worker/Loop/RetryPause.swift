/// The pause before something is tried again: longer with each failure in a row.
struct RetryPause {
    private static let first = Duration.milliseconds(200)
    private static let most = Duration.seconds(5)

    private var length = first
    private var until: ContinuousClock.Instant?

    mutating func fail(at now: ContinuousClock.Instant = .now) {
        until = now + length
        length = min(length * 2, Self.most)
    }

    mutating func succeed() { self = RetryPause() }

    var isOver: Bool { leftMilliseconds == 0 }

    /// Rounded up.
    var leftMilliseconds: Int { left(at: .now) }

    func left(at now: ContinuousClock.Instant) -> Int {
        guard let until, until > now else { return 0 }
        return Int((until - now) / .milliseconds(1)) + 1
    }
}
