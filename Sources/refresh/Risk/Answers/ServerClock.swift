package import AppAttest

/// How far this machine's clock is from Apple's, by the dates of its answers: Apple judges Not Before and a token's time
/// by its own.
package struct ServerClock: Sendable, Equatable {
    /// So far apart no call is of use, except for one in a while that asks for the time.
    package static let mostMilliseconds = 5 * Milliseconds.minute
    package static let probeMilliseconds = 15 * Milliseconds.minute
    /// So far apart the clock may be why many receipts are called for too early.
    package static let suspectMilliseconds = 30 * Milliseconds.second
    package static let suspectEarly = 10

    /// Milliseconds from Apple's time until ours, about a second too long; nil before the first date.
    package private(set) var offset: Int64?
    /// When the next call may begin; nil = the clock is right, as far as is known.
    package private(set) var opensAt: EvaluationTime?
    /// Answers 304 in a row.
    private var earlyCount = 0

    package init() {}

    package var isReady: Bool { opensAt == nil }

    /// A call begins. While the clock is wrong it is the one that asks.
    package mutating func begin(at time: EvaluationTime) {
        if opensAt != nil { opensAt = time.after(milliseconds: Self.probeMilliseconds) }
    }

    /// - Returns: whether the clock may explain the answers 304; once for each so many.
    package mutating func note(_ outcome: CallOutcome, serverTime: EvaluationTime?, at time: EvaluationTime) -> Bool {
        if let serverTime {
            let offset = time.since(serverTime)
            self.offset = offset
            if offset.magnitude <= Self.mostMilliseconds.magnitude {
                opensAt = nil
            } else if opensAt == nil {
                opensAt = time.after(milliseconds: Self.probeMilliseconds)
            }
        }
        earlyCount = outcome == .early ? earlyCount + 1 : 0
        guard earlyCount >= Self.suspectEarly, let offset, offset.magnitude > Self.suspectMilliseconds.magnitude
        else { return false }
        earlyCount = 0
        return true
    }
}
