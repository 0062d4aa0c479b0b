/// The pause before something is tried again: longer with each failure in a row.
package struct RetryPause {
    private static let first = Duration.milliseconds(200)
    private static let most = Duration.seconds(5)

    private var length = first
    private var until: ContinuousClock.Instant?

    package init() {}

    package mutating func fail(at now: ContinuousClock.Instant = .now) {
        until = now + length
        length = min(length * 2, Self.most)
    }

    package mutating func succeed() { self = RetryPause() }

    package var isOver: Bool { leftMilliseconds == 0 }

    /// Rounded up.
    package var leftMilliseconds: Int { left(at: .now) }

    package func left(at now: ContinuousClock.Instant) -> Int {
        guard let until, until > now else { return 0 }
        return Int((until - now) / .milliseconds(1)) + 1
    }
}
