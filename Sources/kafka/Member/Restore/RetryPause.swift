package import KafkaPorts

/// The pause before something is tried again: longer with each failure in a row.
package struct RetryPause: Equatable {
    private static let first: Int64 = 200
    private static let most: Int64 = 5_000

    private var length = first
    private var until: Moment?

    package init() {}

    package mutating func fail(at now: Moment) {
        until = now + length
        length = min(length * 2, Self.most)
    }

    package mutating func succeed() { self = RetryPause() }

    func isOver(at now: Moment) -> Bool { left(at: now) == 0 }

    /// Milliseconds.
    package func left(at now: Moment) -> Int { until.map { Int(max(0, $0 - now)) } ?? 0 }
}
