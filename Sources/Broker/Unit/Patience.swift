/// How long calls to the broker may go on: a budget for one action, cut short when the worker is asked to stop.
struct Patience {
    /// How much time an action keeps once a stop was asked for.
    private static let grace = Duration.seconds(3)
    /// No single call takes longer, so that a stop is noticed and the group is served.
    static let slice = Duration.milliseconds(500)

    private let start = ContinuousClock.now
    private let budget: Duration
    private var deadline: ContinuousClock.Instant
    private let isStopping: @Sendable () -> Bool
    private var hasSeenStop = false

    init(milliseconds: Int, isStopping: @escaping @Sendable () -> Bool) {
        budget = .milliseconds(milliseconds)
        deadline = start + budget
        self.isStopping = isStopping
    }

    /// Milliseconds that the next call may take; nil when the time is up.
    mutating func next() -> Int? { all().map { min($0, Int(Self.slice / .milliseconds(1))) } }

    /// All the time left, for a call that checks for a stop and serves the group itself.
    mutating func all() -> Int? {
        noteStop()
        let left = deadline - .now
        guard left > .zero else { return nil }
        return max(1, Int(left / .milliseconds(1)))
    }

    /// Whether a stop ends a call before its own time is up.
    mutating func isCutShort() -> Bool {
        noteStop()
        return hasSeenStop && deadline <= .now
    }

    private mutating func noteStop() {
        guard !hasSeenStop, isStopping() else { return }
        hasSeenStop = true
        deadline = min(deadline, .now + Self.grace)
    }

    /// The share of the budget that has passed; above 1 when it is exceeded.
    var used: Double { (ContinuousClock.now - start) / max(budget, .milliseconds(1)) }
}
