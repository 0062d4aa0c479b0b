internal import AppAttest

/// The SDK's memory of failures: which of them forbid calls, and for how long.
struct StockBackoff: Sendable, Equatable {
    static let dayMilliseconds: Int64 = 24 * 3_600_000
    static let longestMilliseconds: Int64 = 4 * 3_600_000

    /// Failures in a row, whatever their kind, before the last one.
    private var failures = -1
    private(set) var allowedAt: EvaluationTime?

    mutating func succeed() { self = StockBackoff() }

    /// - Parameters:
    ///   - status: of HTTP; 0 where none came.
    ///   - random: gives the jitter. The SDK draws it again at each try; one draw for each failure makes the end of the
    ///     interval known at once.
    mutating func fail(status: Int, at time: EvaluationTime, using random: inout SeededRandom) {
        failures += 1
        switch status {
        case ..<400: allowedAt = nil
        case 400, 404: allowedAt = EvaluationTime(milliseconds: time.milliseconds + Self.dayMilliseconds)
        default:
            // From 2^14 s on it is the longest one anyway.
            let base = Int64(1000) << Int64(min(failures, 20))
            let jitter = Int64.random(in: 0..<1000, using: &random)
            let interval = min(base + base * jitter / 2000, Self.longestMilliseconds)
            allowedAt = EvaluationTime(milliseconds: time.milliseconds + interval)
        }
    }

    /// The end of the interval in which no call is made; nil = a call may be made.
    func end(at time: EvaluationTime) -> EvaluationTime? { allowedAt.flatMap { time < $0 ? $0 : nil } }
}
