internal import Pipeline
internal import Settings

/// The line of each minute: what was answered in it.
struct Heartbeat {
    /// The time between two heartbeats, in milliseconds.
    static let interval: Int64 = 60_000

    private var last: Int64
    private var tally = LoopTally()

    /// - Parameter now: milliseconds of a clock that never goes back.
    init(at now: Int64) { last = now }

    /// - Parameter lag: records that are still to be read; nil = not known.
    /// - Returns: nil within the minute.
    mutating func beat(_ tally: LoopTally, lag: Int?, at now: Int64) -> LogEvent? {
        guard now - last >= Self.interval else { return nil }
        let answered = tally.requests - self.tally.requests
        let refused = tally.refusedTotal - self.tally.refusedTotal
        let deferred = tally.deferred - self.tally.deferred
        let dead = tally.deadLettersTotal - self.tally.deadLettersTotal
        let rate = answered * 1000 / Int(now - last)
        (last, self.tally) = (now, tally)
        var counts = [
            LogEvent.Count("answered", answered), LogEvent.Count("refused", refused),
            LogEvent.Count("deferred", deferred), LogEvent.Count("deadLetters", dead),
        ]
        if let lag { counts.append(LogEvent.Count("lag", lag)) }
        counts.append(LogEvent.Count("rate", rate))
        let behind = lag.map { ", lag \($0.grouped)" } ?? ""
        let message =
            "\(answered.grouped) answered in a minute: \(refused.grouped) refused, \(deferred.grouped) deferred, "
            + "\(dead.grouped) dead letters\(behind), \(rate.grouped)/s"
        return LogEvent(.info, .heartbeat, message, counts: counts)
    }
}
