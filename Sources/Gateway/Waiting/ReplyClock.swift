internal import AppCheck

/// Compares this machine's clock with the times of replies and of the broker's acknowledgements.
struct ReplyClock {
    /// This machine's clocks at one moment, in milliseconds.
    struct Reading {
        /// The milliseconds since 1970.
        let wall: Int64
        /// The milliseconds of the monotonic clock.
        let uptime: Int64
    }

    static let most = ClockTolerance.milliseconds
    /// One reply may come from a worker whose own clock is wrong.
    private static let repliesForDoubt = 3
    /// A doubt keeps away the calls that could end it. After this time the next call measures again.
    static let doubtMilliseconds: Int64 = 60_000

    /// How far the others were ahead, and how far the wall clock was ahead of the uptime then.
    private var measured: (offset: Int64, lead: Int64)?
    private var strange = 0
    /// Whether a request of ours was ever measured.
    private var hasOwn = false
    /// The uptime at which the present doubt was first seen.
    private var doubtedSince: Int64?

    /// How far the others are ahead of this clock at least, in milliseconds; negative = they are behind; nil = nothing
    /// is known.
    ///
    /// A clock that is set after the last measurement changes it at once: the uptime tells by how much.
    func offset(_ now: Reading) -> Int64? {
        measured.map { $0.offset - (now.wall - now.uptime - $0.lead) }
    }

    /// The offset where this clock must not be used.
    func doubt(_ now: Reading) -> Int64? {
        guard strange == 0 || strange >= Self.repliesForDoubt, let offset = offset(now), abs(offset) > Self.most
        else { return nil }
        return offset
    }

    /// Forgets a doubt that has lasted. Call it a few times a second.
    mutating func poll(_ now: Reading) {
        assert(strange == 0 || measured != nil, "a strange reply was measured")
        guard doubt(now) != nil else { return doubtedSince = nil }
        let since = doubtedSince ?? now.uptime
        doubtedSince = since
        guard now.uptime - since >= Self.doubtMilliseconds else { return }
        (measured, strange, doubtedSince) = (nil, 0, nil)
        assert(doubt(now) == nil, "a doubt that was forgotten keeps no call away")
    }

    /// A reply to a request of ours was written between the request and now, if the clocks agree.
    ///
    /// - Parameters:
    ///   - timestamp: the reply's, milliseconds since 1970; negative ones say nothing.
    ///   - producedAt: the request's time by this clock.
    mutating func note(_ timestamp: Int64, producedAt: Int64, _ now: Reading) {
        guard let apart = Self.apart(timestamp, producedAt: producedAt, now) else { return }
        (measured, hasOwn) = ((apart, now.wall - now.uptime), true)
        strange = abs(apart) > Self.most ? strange + 1 : 0
        assert(apart <= 0 || timestamp > now.wall, "only a time ahead of ours is ahead")
    }

    /// The earliest time that counts, in September 2001: librdkafka's mock cluster says 1234.
    private static let firstTime: Int64 = 1_000_000_000_000

    /// The broker's own time of a request of ours: workers judge challenges by it, so one is enough.
    mutating func note(appended timestamp: Int64, producedAt: Int64, _ now: Reading) {
        guard timestamp >= Self.firstTime else { return }
        note(timestamp, producedAt: producedAt, now)
        if strange > 0 { strange = Self.repliesForDoubt }
    }

    /// A reply to another gateway's request: near enough it shows that the clocks agree; a late one shows nothing. One
    /// from the future counts until a request of ours is measured: a gateway that starts makes challenges.
    mutating func note(foreign timestamp: Int64, _ now: Reading) {
        guard let apart = Self.apart(timestamp, producedAt: now.wall, now), apart >= -Self.most else { return }
        let isStrange = apart > Self.most
        guard !isStrange || !hasOwn else { return }
        if isStrange || strange > 0 || doubt(now) != nil { measured = (apart, now.wall - now.uptime) }
        strange = isStrange ? strange + 1 : 0
        assert(strange == 0 || measured != nil, "a strange reply was measured")
    }

    /// How far a time lies outside of the time between a request and now; nil for none.
    static func apart(_ timestamp: Int64, producedAt: Int64, _ now: Reading) -> Int64? {
        guard timestamp >= 0 else { return nil }
        // Sums with a time beyond all calendars stay in range.
        let timestamp = min(timestamp, Int64.max / 4)
        return timestamp > now.wall ? timestamp - now.wall : min(0, timestamp - producedAt)
    }
}
