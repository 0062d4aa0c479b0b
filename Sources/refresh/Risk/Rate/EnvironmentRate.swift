internal import AppAttest

/// The part of the configured rate at which one of Apple's hosts is called: halved by an answer 429, doubled by an hour
/// without one.
struct EnvironmentRate: Sendable, Equatable {
    /// However many answers 429: one call a minute.
    static let longestInterval: Int64 = 60_000_000
    static let halvingPauseMilliseconds = 10 * Milliseconds.second
    static let quietMilliseconds = Milliseconds.hour
    /// A longer Retry-After counts as this one.
    static let longestPauseMilliseconds = Milliseconds.hour

    /// The part of the configured rate that is left: 1 where nothing was throttled.
    private var share = 1.0
    private var schedule = CallSchedule()
    private var halvedAt: EvaluationTime?
    /// The last answer 429, or the last time that the rate was doubled.
    private var quietSince: EvaluationTime?
    /// The end of the longest Retry-After.
    private var pausedUntil: EvaluationTime?

    var isLowered: Bool { share < 1 }

    /// When the next call may begin.
    var next: EvaluationTime { pausedUntil.map { max($0, schedule.next) } ?? schedule.next }

    /// - Parameter interval: microseconds between calls at the configured rate.
    /// - Returns: microseconds between calls now.
    func interval(_ interval: Int64) -> Int64 {
        guard isLowered else { return interval }
        let lowered = (Double(interval) / share).rounded(.up)
        return max(interval, Int64(min(lowered, Double(Self.longestInterval))))
    }

    mutating func take(at time: EvaluationTime, interval: Int64) {
        restore(at: time)
        schedule.take(at: time, interval: self.interval(interval))
    }

    /// An answer 429. Many calls in flight get one for the same cause, so that one of them counts.
    ///
    /// - Returns: whether the rate is lower from now on.
    mutating func wasThrottled(at time: EvaluationTime, interval: Int64) -> Bool {
        restore(at: time)
        quietSince = time
        if let halvedAt, time.since(halvedAt) < Self.halvingPauseMilliseconds, halvedAt <= time { return false }
        let before = share
        (halvedAt, share) = (time, max(share / 2, min(1, Double(interval) / Double(Self.longestInterval))))
        return share < before
    }

    /// Takes a Retry-After for what it says, up to an hour.
    mutating func pause(milliseconds: Int64, at time: EvaluationTime) {
        let until = time.after(milliseconds: min(max(0, milliseconds), Self.longestPauseMilliseconds))
        pausedUntil = pausedUntil.map { max($0, until) } ?? until
    }

    /// Doubles the rate for each whole hour since the last answer 429.
    mutating func restore(at time: EvaluationTime) {
        while isLowered, let since = quietSince, time.since(since) >= Self.quietMilliseconds {
            share = min(1, share * 2)
            quietSince = since.after(milliseconds: Self.quietMilliseconds)
        }
    }
}
