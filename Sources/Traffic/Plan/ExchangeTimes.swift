internal import AppAttest
internal import AppCheck

/// When the secrets of a simulated request were made.
enum ExchangeTimes {
    /// From a challenge's issue to the request that uses it, in milliseconds.
    private static let leadMilliseconds: Int64 = 200

    /// When the challenge of a request at a time was issued.
    static func issue(at time: EvaluationTime) -> EvaluationTime {
        EvaluationTime(milliseconds: time.milliseconds - leadMilliseconds)
    }

    /// The times of a limited-use token minted at a time.
    static func token(at time: EvaluationTime) -> TokenTimes {
        TokenTimes(at: time, limitedUse: true, settings: TokenSettings())
    }
}
