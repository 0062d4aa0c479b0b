package import AppAttest

/// Checks times of calls against a rate.
package enum RateCheck {
    /// Whether every window of the calls has as many as the rate allows in it and in the clock's millisecond, and one.
    package static func holds(_ times: [EvaluationTime], callsPerSecond: Double) -> Bool {
        let interval = 1_000 / callsPerSecond
        // How far a call may be ahead of equal distances from any call before it.
        var latest = -Double.infinity
        for (index, time) in times.enumerated() {
            let ahead = Double(time.milliseconds) - Double(index) * interval
            if latest - ahead > 1.0001 { return false }
            latest = max(latest, ahead)
        }
        return true
    }
}
