internal import Testing

@testable internal import Pipeline

@Suite("The brokers' time")
struct BrokerTimeTests {
    private static let (second, minute, hour): (Int64, Int64, Int64) = (1_000, 60_000, 3_600_000)
    /// The brokers' time at uptime 0.
    private static let start: Int64 = 1_795_000_000_000

    /// The worker's clocks at an uptime.
    private static func now(_ uptime: Int64, ahead: Int64) -> ClockWatch.Now {
        ClockWatch.Now(wall: start + uptime + ahead, uptime: uptime)
    }

    /// What a worker knows when it has read a record of this age, and has written it, or has not yet.
    private static func known(age: Int64, ahead: Int64, writes: Writes) -> BrokerTime {
        var time = BrokerTime()
        time.noteRead(start - age, at: now(0, ahead: ahead))
        switch writes {
        case .none: break
        case .told: time.noteWritten(start + 3, begun: 0, at: now(5, ahead: ahead))
        case .untold: time.noteWritten(nil, begun: 0, at: now(5, ahead: ahead))
        }
        return time
    }

    enum Writes: CaseIterable, Sendable { case none, told, untold }

    private static let leads: [Int64] = [
        -hour, -90 * second, -8 * second, 0, 8 * second, 59 * second, 90 * second, 10 * minute, hour,
    ]
    private static let ages: [Int64] = [0, 5, 4 * second, 70 * second, 3 * hour]
    private static let jumps: [Int64] = [0, 8 * second, -8 * second, 10 * minute, -10 * minute]

    /// Where no broker tells when it appends what is written, a clock that is ahead looks like a backlog: within the
    /// tolerance.
    @Test(arguments: leads, ages)
    func `no token begins later than the brokers' time, whatever clock, backlog and jump are`(lead: Int64, age: Int64) {
        for writes in Writes.allCases {
            for jump in Self.jumps {
                let time = Self.known(age: age, ahead: lead, writes: writes)
                let now = Self.now(10, ahead: lead + jump)
                let mint = time.mintTime(at: now)
                let late = mint - (Self.start + 10)
                let isBlind = writes == .untold && lead + jump > BrokerTime.tolerance
                #expect(late <= (isBlind ? lead + jump - BrokerTime.tolerance : 0), "\(writes) \(jump)")
                #expect(mint <= now.wall)
            }
        }
    }

    /// Without brokers' times of what is written, `iat` is earlier as a precaution, and the remaining life counts from this
    /// clock.
    @Test(arguments: leads, Writes.allCases)
    func `a wrong clock does not shorten a fresh token's ttl, and never lengthens it`(
        lead: Int64,
        writes: Writes
    ) {
        let time = Self.known(age: 5, ahead: lead, writes: writes)
        let now = Self.now(10, ahead: lead)
        let told = time.mintTime(at: now) + Self.hour - time.presentTime(at: now)
        #expect(told <= Self.hour && (told > Self.hour - 2 * Self.minute || writes == .untold))
    }

    @Test(arguments: ages)
    func `a backlog costs a token nothing once a write has told the time, and a minute at most where none does`(
        age: Int64
    ) {
        let told = Self.known(age: age, ahead: 0, writes: .told)
        #expect(told.mintTime(at: Self.now(10, ahead: 0)) >= Self.start + 10 - 5)
        let untold = Self.known(age: age, ahead: 0, writes: .untold)
        #expect(untold.mintTime(at: Self.now(10, ahead: 0)) >= Self.start + 10 - Self.minute)
    }

    @Test(
        arguments: [
            (0, 3 * hour, .none, true), (0, 70 * second, .none, true), (0, 59 * second, .none, false),
            (hour, 0, .none, true), (0, 3 * hour, .told, false), (hour, 0, .told, false), (0, 3 * hour, .untold, false),
        ] as [(Int64, Int64, Writes, Bool)]
    )
    func `old records, or a clock ahead: a write tells, unless the topic keeps the writer's times`(
        ahead: Int64,
        age: Int64,
        writes: Writes,
        isUnproven: Bool
    ) {
        let time = Self.known(age: age, ahead: ahead, writes: writes)
        #expect(time.isUnproven(at: Self.now(10, ahead: ahead)) == isUnproven)
    }

    @Test func `the offset is the least of a minute or two, and changes at once where the clock is set`() {
        var time = BrokerTime()
        #expect(time.offset(at: Self.now(0, ahead: 0)) == nil)
        time.noteRead(Self.start - 40, at: Self.now(0, ahead: 0))
        time.noteRead(Self.start - 30, at: Self.now(10, ahead: 0))
        #expect(time.offset(at: Self.now(20, ahead: 0)) == 40)
        #expect(time.offset(at: Self.now(20, ahead: 10 * Self.minute)) == 10 * Self.minute + 40)
        #expect(time.offset(at: Self.now(3 * Self.minute, ahead: 0)) == nil)
    }

    @Test func `a process that slept mints for what it read before its sleep by the brokers' time, not by its own`() {
        var time = BrokerTime()
        time.noteRead(Self.start - 40, at: Self.now(0, ahead: 2 * Self.minute))
        let later = Self.now(3 * Self.minute, ahead: 2 * Self.minute)
        #expect(time.offset(at: later) == nil && time.mintTime(at: later) == Self.start + 3 * Self.minute - 40)
    }

    @Test func `a time that no broker can have, as of a mock cluster, tells nothing`() {
        var time = BrokerTime()
        time.noteWritten(1234, begun: 0, at: Self.now(5, ahead: 0))
        #expect(time.lead(at: Self.now(5, ahead: 0)) == nil && time.offset(at: Self.now(5, ahead: 0)) == nil)
    }
}

struct LargestOfMinuteTests {
    @Test func `the largest of the last one or two minutes counts, however often it is asked for`() {
        var largest = LargestOfMinute()
        #expect(largest.value(at: 0) == nil)
        largest.add(6, at: 0)
        largest.add(-3, at: 1_000)
        for second in 1..<60 as Range<Int64> { #expect(largest.value(at: second * 1_000) == 6) }
        largest.add(-5, at: 61_000)
        for second in 62..<119 as Range<Int64> { #expect(largest.value(at: second * 1_000) == 6) }
        #expect(largest.value(at: 120_000) == -5, "the first minute is over for a minute")
    }

    @Test func `nothing is left two minutes after the last value`() {
        var largest = LargestOfMinute()
        largest.add(-6, at: 0)
        for second in 0...200 as ClosedRange<Int64> {
            let value = largest.value(at: second * 1_000)
            #expect(second < 120 ? value == -6 : value == nil, "\(second)")
        }
    }
}
