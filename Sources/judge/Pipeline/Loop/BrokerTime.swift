internal import AppCheck

/// The brokers' time as far as their append times tell it (LogAppendTime, which no sender can choose).
///
/// A record that was read tells the earliest that it can be: in a backlog it is much later. A record that this loop wrote
/// tells the latest too, since no broker appended it before the write began.
struct BrokerTime: Sendable {
    /// How far the wall clock may be ahead.
    static let tolerance = ClockTolerance.milliseconds

    /// The brokers' time at uptime 0, at least and at most.
    private var earliest = LargestOfMinute()
    private var latest = LargestOfMinute()
    /// The last of each, however old.
    private var (lastEarliest, lastLatest): (Int64?, Int64?)
    /// Whether brokers tell when they append what this loop writes; nil = nothing was written yet.
    private var isTold: Bool?

    mutating func noteRead(_ timestamp: Int64, at now: ClockWatch.Now) {
        earliest.add(timestamp - now.uptime, at: now.uptime)
        lastEarliest = earliest.value(at: now.uptime)
    }

    /// - Parameters:
    ///   - timestamp: when a broker appended it; nil = the topic keeps the writer's times.
    ///   - begun: the uptime at which the write began.
    mutating func noteWritten(_ timestamp: Int64?, begun: Int64, at now: ClockWatch.Now) {
        guard let timestamp, timestamp >= ClockTolerance.firstTime else { return (isTold, lastLatest) = (false, nil) }
        noteRead(timestamp, at: now)
        latest.add(timestamp - begun, at: now.uptime)
        (isTold, lastLatest) = (true, latest.value(at: now.uptime))
    }

    /// How far the wall clock is ahead of the brokers' at most; nil = nothing came for a minute or two.
    func offset(at now: ClockWatch.Now) -> Int64? { earliest.value(at: now.uptime).map { now.wall - now.uptime - $0 } }

    /// How far it is ahead at least, by what was written last; nil = that tells nothing.
    func lead(at now: ClockWatch.Now) -> Int64? { lastLatest.map { now.wall - now.uptime - $0 } }

    /// Whether something was written in the last minute or two.
    func isRecent(at now: ClockWatch.Now) -> Bool { latest.value(at: now.uptime) != nil }

    /// Whether the wall clock may be too far ahead, since all that was read is old, and a write would tell.
    func isUnproven(at now: ClockWatch.Now) -> Bool {
        guard isTold != false, !isRecent(at: now) else { return false }
        return offset(at: now).map { $0 > Self.tolerance } ?? (lastLatest != nil)
    }

    /// The time of tokens that are minted now: not later than the brokers', if these tell the time of what is written.
    ///
    /// If they do not, a backlog looks like a clock that is ahead. So much later than the newest record, tokens then begin
    /// as if the clock were ahead by all that is tolerated: they lose a minute of their life at most. A process that slept
    /// for minutes mints for what it has read before: the brokers' time has gone on since then, and is not earlier.
    func mintTime(at now: ClockWatch.Now) -> Int64 {
        let offset = (earliest.value(at: now.uptime) ?? lastEarliest).map { now.wall - now.uptime - $0 } ?? 0
        return now.wall - max(0, isTold == false ? min(offset, Self.tolerance) : offset)
    }

    /// The time from which answers count a token's remaining life: with a clock that is ahead a fresh token would get a ttl of
    /// zero, which clients cannot read. If the brokers tell no time of what is written, this is the machine's time.
    func presentTime(at now: ClockWatch.Now) -> Int64 { isTold == false ? now.wall : mintTime(at: now) }
}

/// The largest value of the last one to two minutes.
struct LargestOfMinute {
    private static let length: Int64 = 60_000

    private var present: (began: Int64, largest: Int64)?
    private var before: (ended: Int64, largest: Int64)?

    /// - Parameter now: milliseconds of a clock that cannot be set.
    mutating func add(_ value: Int64, at now: Int64) {
        turn(at: now)
        present = (present?.began ?? now, max(present?.largest ?? value, value))
    }

    /// nil = nothing came for a minute or two.
    func value(at now: Int64) -> Int64? {
        var turned = self
        turned.turn(at: now)
        return [turned.before?.largest, turned.present?.largest].compactMap(\.self).max()
    }

    private mutating func turn(at now: Int64) {
        if let last = before, now - last.ended >= Self.length { before = nil }
        guard let present, now - present.began >= Self.length else { return }
        let ended = present.began + Self.length
        before = now - ended < Self.length ? (ended, present.largest) : nil
        self.present = nil
    }
}
