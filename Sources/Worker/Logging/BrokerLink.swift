internal import Settings

/// Notices when the connection to all brokers is gone, and when it is back.
struct BrokerLink {
    private var isAway = false
    /// Since when, in milliseconds.
    private var since: Int64 = 0

    /// - Parameters:
    ///   - isAway: no client is connected to any broker it knows.
    ///   - reason: the last fault that a client reported.
    ///   - now: milliseconds of a clock that never goes back.
    /// - Returns: the event of a change.
    mutating func look(isAway: Bool, reason: String?, at now: Int64) -> LogEvent? {
        guard isAway != self.isAway else { return nil }
        self.isAway = isAway
        guard !isAway else {
            since = now
            let why = reason.map { ": \($0)" } ?? ""
            return LogEvent(.error, .brokerLost, "no broker is connected\(why); the work waits and nothing is lost")
        }
        let seconds = Int(max(0, now - since + 500) / 1000)
        return LogEvent(
            .info,
            .brokerBack,
            "a broker is connected again, after \(seconds) s",
            counts: [LogEvent.Count("seconds", seconds)]
        )
    }
}
