internal import Pipeline
internal import Threads

/// Requests per second over the last ten seconds and the last minute: from a count that is noted once a second.
final class Rates: Sendable {
    private static let kept = 61

    private struct State {
        /// The oldest first.
        var marks: [(at: SuspendingClock.Instant, count: Int)] = []
    }

    private let state = Locked(State())

    func note(_ count: Int, at now: SuspendingClock.Instant = .now) {
        state.withLock { state in
            if let last = state.marks.last, now - last.at < .seconds(1) { return }
            state.marks.append((now, count))
            if state.marks.count > Self.kept { state.marks.removeFirst() }
        }
    }

    var values: (tenSeconds: Double, minute: Double) {
        let marks = state.withLock { $0.marks }
        return (Self.rate(marks.suffix(11)), Self.rate(marks[...]))
    }

    private static func rate(_ marks: ArraySlice<(at: SuspendingClock.Instant, count: Int)>) -> Double {
        guard let first = marks.first, let last = marks.last, last.at > first.at else { return 0 }
        return Double(last.count - first.count) / ((last.at - first.at) / .seconds(1))
    }
}
