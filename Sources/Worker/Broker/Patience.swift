/// How long calls to the broker may go on: a budget for one action, cut short when the worker is asked to stop.
struct Patience {
    /// What is left for the action once a stop was asked for.
    private static let grace = Duration.seconds(3)
    /// No single call is longer, so that a stop is seen.
    private static let slice = Duration.milliseconds(1_000)

    private var deadline: ContinuousClock.Instant
    private let isStopping: @Sendable () -> Bool
    private var hasSeenStop = false

    init(milliseconds: Int, isStopping: @escaping @Sendable () -> Bool) {
        deadline = .now + .milliseconds(milliseconds)
        self.isStopping = isStopping
    }

    /// Milliseconds that the next call may take; nil when the time is up.
    mutating func next() -> Int? {
        if !hasSeenStop, isStopping() {
            hasSeenStop = true
            deadline = min(deadline, .now + Self.grace)
        }
        let left = deadline - .now
        guard left > .zero else { return nil }
        return max(1, Int(min(left, Self.slice) / .milliseconds(1)))
    }
}
