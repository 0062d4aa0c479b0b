internal import KafkaPorts

/// The pause before something is tried again: longer with each failure in a row.
struct RetryPause: Equatable {
    private static let first: Int64 = 200
    private static let most: Int64 = 5_000

    private var length = first
    private var until: Moment?

    mutating func fail(at now: Moment) {
        until = now + length
        length = min(length * 2, Self.most)
    }

    mutating func succeed() { self = RetryPause() }

    func isOver(at now: Moment) -> Bool { until.map { now >= $0 } ?? true }
}
