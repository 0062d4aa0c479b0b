internal import AppAttest
internal import Crypto

/// Limits the exchanges of debug tokens: the SDK has no back-off for them. Each secret has a limit of its own, so that
/// no one who knows none can keep those out who do.
struct DebugGate {
    /// The most calls for a secret in a minute, at one gateway.
    static let mostPerMinute = 10

    private struct Key: Hashable {
        let app: String
        let secret: Digest?
    }

    private var minute: Int64 = 0
    private var counts: [Key: Int] = [:]

    /// - Parameters:
    ///   - app: its name in apps.json, of which there are few.
    ///   - secret: the hash of one of the app's debug tokens, of which there are few; nil = any other secret.
    ///   - milliseconds: of a clock that never goes back.
    /// - Returns: nil = it is admitted; else the seconds after which another one is.
    mutating func wait(_ app: String, _ secret: Digest?, at milliseconds: Int64) -> Int64? {
        let minute = milliseconds / RateGate.period
        if minute != self.minute { (self.minute, counts) = (minute, [:]) }
        let key = Key(app: app, secret: secret)
        guard counts[key, default: 0] < Self.mostPerMinute else { return RateGate.rest(at: milliseconds) }
        counts[key, default: 0] += 1
        return nil
    }
}
