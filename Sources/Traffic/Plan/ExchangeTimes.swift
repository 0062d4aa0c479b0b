internal import AppAttest
internal import AppCheck

/// The times at which the secrets of a simulated request were made.
enum ExchangeTimes {
    /// The time from a challenge's issue to the request that uses it, in milliseconds.
    private static let leadMilliseconds: Int64 = 200

    /// The time at which the challenge of a request was issued.
    static func issue(at time: EvaluationTime) -> EvaluationTime {
        EvaluationTime(milliseconds: time.milliseconds - leadMilliseconds)
    }

    /// The times of a limited-use token minted at a time.
    static func token(at time: EvaluationTime) -> TokenTimes {
        TokenTimes(at: time, limitedUse: true, settings: TokenSettings())
    }
}
