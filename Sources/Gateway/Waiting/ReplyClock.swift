/// Compares this machine's clock with the times of replies.
struct ReplyClock {
    /// Challenges of a gateway whose clock is further off may be refused.
    static let most: Int64 = 60_000
    /// One reply may come from a worker whose own clock is wrong.
    private static let repliesForDoubt = 3

    /// How far replies are ahead of this clock at least, in milliseconds; negative = behind; nil = none has come.
    private(set) var offset: Int64?
    private var strange = 0

    var doubt: Int64? { strange >= Self.repliesForDoubt ? offset : nil }

    /// A reply to a request of ours was written between the request and now, if the clocks agree.
    ///
    /// - Parameters:
    ///   - timestamp: the reply's, milliseconds since 1970; negative ones say nothing.
    ///   - producedAt: the request's time by this clock.
    mutating func note(_ timestamp: Int64, producedAt: Int64, now: Int64) {
        guard timestamp >= 0 else { return }
        let apart = timestamp > now ? timestamp - now : min(0, timestamp - producedAt)
        offset = apart
        strange = abs(apart) > Self.most ? strange + 1 : 0
    }

    /// A reply to another gateway's request: near enough it shows that the clocks agree; a late one shows nothing.
    mutating func note(foreign timestamp: Int64, now: Int64) {
        guard timestamp >= 0 else { return }
        if abs(timestamp - now) <= Self.most { strange = 0 }
    }
}
