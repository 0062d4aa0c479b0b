package import AppAttest

/// The start and end of a token's life, in whole seconds.
package struct TokenTimes: Hashable, Sendable {
    package let issuedAt: Int64
    package let expiresAt: Int64

    /// - Parameters:
    ///   - time: the mint time in live mode, the record's in replay; rounded down: verifiers refuse an `iat` ahead.
    ///   - settings: the app's; the life of session tokens and the leeway, rounded down to whole seconds.
    package init(at time: EvaluationTime, limitedUse: Bool, settings: TokenSettings) {
        let now = time.milliseconds / 1000 - (time.milliseconds % 1000 < 0 ? 1 : 0)
        let seconds = now - settings.leewayMilliseconds / 1000
        issuedAt = seconds
        expiresAt = seconds + (limitedUse ? TokenClaims.limitedUseSeconds : settings.ttlMilliseconds / 1000)
    }

    /// The times of a token for a debug token: an hour at most, whatever the life of the app's other tokens.
    package init(debugAt time: EvaluationTime, limitedUse: Bool, settings: TokenSettings) {
        var settings = settings
        settings.ttlMilliseconds = min(settings.ttlMilliseconds, DebugToken.mostLife)
        self.init(at: time, limitedUse: limitedUse, settings: settings)
    }

    /// The most milliseconds by which the worker's clock and a record's time may differ and still mean the same moment.
    package static let clockSlack: Int64 = 5_000

    /// The mint time of a token: the earlier of two times that mean the same moment, since verifiers refuse an `iat`
    /// even a second ahead of their clock; else the worker's own.
    ///
    /// - Parameters:
    ///   - clock: the worker's, corrected by the brokers' times; in replay the record's time too.
    ///   - record: when the broker appended the request.
    package static func mintTime(clock: EvaluationTime, record: EvaluationTime) -> EvaluationTime {
        let apart = clock.milliseconds.clampedSubtracting(record.milliseconds)
        return (-clockSlack...clockSlack).contains(apart) ? min(clock, record) : clock
    }

    /// A token that was minted before: a redelivered request gets the same times.
    package init(issuedAt: Int64, expiresAt: Int64) { (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt) }

    package var isLimitedUse: Bool { expiresAt.clampedSubtracting(issuedAt) == TokenClaims.limitedUseSeconds }

    /// Whether the life is one of session tokens.
    package var isSession: Bool {
        let range = TokenSettings.ttlRange.lowerBound / 1000...TokenSettings.ttlRange.upperBound / 1000
        return range.contains(expiresAt.clampedSubtracting(issuedAt))
    }

    /// The life that is left, for the answer's `ttl`: the whole one at most, zero once it is over.
    package func remaining(at time: EvaluationTime) -> ProtoDuration {
        let (end, overflow) = expiresAt.multipliedReportingOverflow(by: 1000)
        guard !overflow, end > time.milliseconds else { return ProtoDuration(milliseconds: 0) }
        let (whole, isLong) = max(0, expiresAt.clampedSubtracting(issuedAt)).multipliedReportingOverflow(by: 1000)
        return ProtoDuration(milliseconds: min(end - max(time.milliseconds, 0), isLong ? .max : whole))
    }
}
