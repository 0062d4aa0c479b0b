internal import AppAttest

/// Calls at equal distances: the token bucket that holds one token, since a burst is above the rate in its own window.
///
/// In a window of any length there are at most as many calls as the rate allows in it and in one millisecond, which is
/// what the clock counts in, and one more.
struct CallSchedule: Sendable, Equatable {
    private static let microsecondsPerMillisecond: Int64 = 1_000

    /// Microseconds since 1970 from which on a call may begin.
    private var free: Int64 = .min

    /// When the next call may begin, in whole milliseconds and not before.
    var next: EvaluationTime {
        let scale = Self.microsecondsPerMillisecond
        guard free > 0 else { return EvaluationTime(milliseconds: free / scale) }
        return EvaluationTime(milliseconds: free / scale + (free % scale == 0 ? 0 : 1))
    }

    func isFree(at time: EvaluationTime) -> Bool { next <= time }

    /// Takes the place of a call that begins now.
    ///
    /// - Parameter interval: microseconds to the next one.
    mutating func take(at time: EvaluationTime, interval: Int64) {
        let scale = Self.microsecondsPerMillisecond
        // A call that the clock made late by a part of a millisecond loses nothing; a longer wait is not made up for.
        let earliest = time.milliseconds.clampedMultiplied(by: scale).clampedSubtracting(scale - 1)
        free = max(free, earliest).clampedAdding(interval)
    }
}
