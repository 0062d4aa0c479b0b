internal import AppAttest

/// Limits the exchanges of debug tokens: the SDK has no back-off for them, and a guesser none either.
struct DebugGate {
    /// Per app and minute, at one gateway.
    static let mostPerMinute = 10

    private var minute: Int64 = 0
    private var counts: [String: Int] = [:]

    /// - Parameters:
    ///   - app: its name in apps.json, of which there are few.
    ///   - minute: of a clock that never goes back.
    mutating func admits(_ app: String, in minute: Int64) -> Bool {
        if minute != self.minute { (self.minute, counts) = (minute, [:]) }
        guard counts[app, default: 0] < Self.mostPerMinute else { return false }
        counts[app, default: 0] += 1
        return true
    }
}
