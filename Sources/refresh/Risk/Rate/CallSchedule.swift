package import AppAttest

/// Calls at equal distances: the token bucket that holds one token, since a burst is above the rate in its own window.
///
/// In a window of any length there are at most as many calls as the rate allows in it and in one millisecond, which is
/// what the clock counts in, and one more.
package struct CallSchedule: Sendable, Equatable {
    private static let microsecondsPerMillisecond: Int64 = 1_000

    /// Microseconds since 1970 from which on a call may begin.
    private var free: Int64 = .min

    package init() {}

    /// When the next call may begin, in whole milliseconds and not before.
    package var next: EvaluationTime {
        let scale = Self.microsecondsPerMillisecond
        guard free > 0 else { return EvaluationTime(milliseconds: free / scale) }
        return EvaluationTime(milliseconds: free / scale + (free % scale == 0 ? 0 : 1))
    }

    package func isFree(at time: EvaluationTime) -> Bool { next <= time }

    /// Takes the place of a call that begins now.
    ///
    /// - Parameter interval: microseconds to the next one.
    package mutating func take(at time: EvaluationTime, interval: Int64) {
        let scale = Self.microsecondsPerMillisecond
        // A call that the clock made late by a part of a millisecond loses nothing; a longer wait is not made up for.
        let earliest = time.milliseconds.clampedMultiplied(by: scale).clampedSubtracting(scale - 1)
        free = max(free, earliest).clampedAdding(interval)
    }
}

/// How long a kept visit waits for the next one: random over the whole span (full jitter), so that what failed together
/// does not come back together.
package enum RetryDelay {
    package static let least = Milliseconds.second
    package static let most = 5 * Milliseconds.minute
    /// Doubled so often the span is as long as it gets.
    private static let mostDoublings = 9

    /// - Parameters:
    ///   - keptBefore: how often the visit was kept before.
    /// - Returns: milliseconds: 1 to 2 s at first, 1 s to 5 min in the end.
    package static func milliseconds(
        keptBefore: Int,
        using random: inout some RandomNumberGenerator
    ) -> Int64 {
        Int64.random(in: least...longest(keptBefore: keptBefore), using: &random)
    }

    package static func longest(keptBefore: Int) -> Int64 {
        min(most, least << Int64(min(max(0, keptBefore), mostDoublings) + 1))
    }
}
