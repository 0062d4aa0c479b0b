internal import AppCheck

/// Compares this machine's clock with those of the brokers that acknowledge its requests, by their append times.
///
/// Workers judge challenges by these times. What workers write has their own clocks' times, which tell nothing here.
struct BrokerClocks {
    /// This machine's clocks at one moment, in milliseconds.
    struct Reading {
        /// The milliseconds since 1970.
        let wall: Int64
        /// The milliseconds of the monotonic clock.
        let uptime: Int64
    }

    private struct Measurement {
        /// How far the broker was ahead at least; negative = behind.
        let apart: Int64
        let reading: Reading

        /// A clock of ours that was set since changes it: the uptime tells by how much.
        func offset(_ now: Reading) -> Int64 { apart - (now.wall - now.uptime - (reading.wall - reading.uptime)) }
    }

    static let most = ClockTolerance.milliseconds
    /// A doubt keeps away the calls that could end it. After this time the next call measures again.
    static let doubtMilliseconds: Int64 = 60_000
    /// How long a measurement counts.
    static let memoryMilliseconds: Int64 = 3_600_000

    private var measured: [Int32: Measurement] = [:]
    /// The uptime at which the present doubt was first seen.
    private var doubtedSince: Int64?
    /// A doubt has lasted, and nothing was measured since.
    private var isForgotten = false

    /// How far each broker is ahead of this clock at least, in milliseconds; negative = behind.
    func offsets(_ now: Reading) -> [Int32: Int64] {
        measured.filter { now.uptime - $0.value.reading.uptime <= Self.memoryMilliseconds }.mapValues { $0.offset(now) }
    }

    /// The offset of the broker that differs least: one that agrees shows that this clock is right. nil = nothing is known.
    func offset(_ now: Reading) -> Int64? { offsets(now).values.min { abs($0) < abs($1) } }

    /// The offset where this clock must not be used.
    func doubt(_ now: Reading, most: Int64 = most) -> Int64? {
        guard !isForgotten, let offset = offset(now), abs(offset) > most else { return nil }
        return offset
    }

    /// The milliseconds that challenges add to this clock's time. After a doubt is forgotten, a wrong clock issues challenges
    /// until it is measured again: one that is dated too early expires too early, and its device loses its key.
    func correction(_ now: Reading, most: Int64) -> Int64 {
        offset(now).flatMap { $0 > most ? $0 : nil } ?? 0
    }

    /// The brokers that differ too much although others agree with this clock.
    func strays(_ now: Reading) -> [Int32: Int64] {
        guard let offset = offset(now), abs(offset) <= Self.most else { return [:] }
        return offsets(now).filter { abs($0.value) > Self.most }
    }

    /// Forgets a doubt that has lasted. Call it a few times a second.
    mutating func poll(_ now: Reading, most: Int64 = most) {
        guard doubt(now, most: most) != nil else { return doubtedSince = nil }
        let since = doubtedSince ?? now.uptime
        doubtedSince = since
        guard now.uptime - since >= Self.doubtMilliseconds else { return }
        (isForgotten, doubtedSince) = (true, nil)
        assert(doubt(now) == nil, "a doubt that was forgotten keeps no call away")
    }

    /// A broker's own time of a request of ours.
    ///
    /// - Parameters:
    ///   - timestamp: the time at which the broker appended it, milliseconds since 1970.
    ///   - broker: its number; −1 where it is not known.
    ///   - since: the uptime at which the call came; the wall clock may have been set after that.
    mutating func note(_ timestamp: Int64, of broker: Int32, since: Int64, _ now: Reading) {
        guard timestamp >= ClockTolerance.firstTime else { return }
        // Sums with a time beyond all calendars stay in range.
        let timestamp = min(timestamp, Int64.max / 4)
        let begun = now.wall - (now.uptime - since)
        let apart = timestamp > now.wall ? timestamp - now.wall : min(0, timestamp - begun)
        (measured[broker], isForgotten) = (Measurement(apart: apart, reading: now), false)
    }
}
