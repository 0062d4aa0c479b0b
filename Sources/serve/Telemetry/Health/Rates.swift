internal import Pipeline
internal import Threads

/// Requests per second over the last ten seconds and the last minute: from a count that is noted once a second.
final class Rates: Sendable {
    private static let kept = 61

    /// The oldest first.
    private let marks = Locked<[(at: SuspendingClock.Instant, count: Int)]>([])

    func note(_ count: Int, at now: SuspendingClock.Instant = .now) {
        marks.withLock { marks in
            if let last = marks.last, now - last.at < .seconds(1) { return }
            marks.append((now, count))
            if marks.count > Self.kept { marks.removeFirst() }
        }
    }

    var values: (tenSeconds: Double, minute: Double) {
        let marks = marks.withLock { $0 }
        return (Self.rate(marks.suffix(11)), Self.rate(marks[...]))
    }

    private static func rate(_ marks: ArraySlice<(at: SuspendingClock.Instant, count: Int)>) -> Double {
        guard let first = marks.first, let last = marks.last, last.at > first.at else { return 0 }
        return Double(last.count - first.count) / ((last.at - first.at) / .seconds(1))
    }
}
