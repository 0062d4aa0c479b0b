/// Spreads records evenly over time.
package struct Pacer {
    private let interval: Duration?
    private let start = ContinuousClock.now
    private var due: Duration = .zero

    package init(recordsPerSecond: Double?) {
        interval = recordsPerSecond.flatMap { $0 > 0 ? .seconds(1 / $0) : nil }
    }

    /// How long until the next record is due; nil when it is, or when there is no rate.
    package func millisecondsToWait() -> Int? {
        guard interval != nil else { return nil }
        let left = due - (.now - start)
        guard left >= .milliseconds(1) else { return nil }
        return min(50, Int(left / .milliseconds(1)))
    }

    package mutating func count() {
        if let interval { due += interval }
    }
}
