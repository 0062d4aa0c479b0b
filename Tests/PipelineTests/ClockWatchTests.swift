import Streams
import TestKit
import Testing

@testable import Pipeline

@Suite("Clock checks")
struct ClockWatchTests {
    private static let (minute, hour, day): (Int64, Int64, Int64) = (60_000, 3_600_000, 86_400_000)
    private static let wall: Int64 = 1_790_000_000_000
    private static let limits = ClockSettings()

    /// A record of this age by our clock when `stepped` is what it was set forward by.
    private static func record(
        age: Int64,
        partition: Int32 = 0,
        at now: ClockWatch.Now,
        logAppend: Bool = true
    ) -> PolledRecord {
        var record = InboundRecord(
            topic: "t",
            partition: partition,
            offset: 0,
            timestamp: now.wall - age,
            key: nil,
            value: nil
        )
        record.hasLogAppendTime = logAppend
        return .uncopied(of: record)
    }

    private static func now(_ later: Int64 = 0, setForward: Int64 = 0) -> ClockWatch.Now {
        ClockWatch.Now(wall: wall + later + setForward, uptime: 500 + later)
    }

    private static func doubt(_ ages: [Int64], _ watch: inout ClockWatch, at now: ClockWatch.Now) -> ClockDoubt? {
        watch.doubt(ages.map { record(age: $0, at: now) }, at: now, limits)
    }

    @Test(
        arguments: [
            ([-6 * minute], true), ([-6 * minute, -day], true), ([-5 * minute], false), ([-6 * minute, 0], false),
            ([0], false), ([], false), ([95 * hour], false), ([97 * hour], false), ([-6 * minute, 97 * hour], true),
        ] as [([Int64], Bool)]
    )
    func `a round that the broker dated in the future is in doubt, one within the limits is not`(
        ages: [Int64],
        isInDoubt: Bool
    ) {
        var watch = ClockWatch()
        #expect((Self.doubt(ages, &watch, at: Self.now()) != nil) == isInDoubt)
    }

    @Test func `a producer's timestamp is not evidence`() {
        var watch = ClockWatch()
        let record = Self.record(age: -Self.day, at: Self.now(), logAppend: false)
        #expect(watch.doubt([record], at: Self.now(), Self.limits) == nil)
    }

    @Test func `the doubt ends when the clock is corrected`() {
        var watch = ClockWatch()
        let record = Self.record(age: -Self.day, at: Self.now())
        #expect(watch.doubt([record], at: Self.now(), Self.limits)?.isAhead == true)
        #expect(watch.doubt([record], at: Self.now(1_000, setForward: Self.day), Self.limits) == nil)
    }

    @Test(
        arguments: [(60_000, 0, false), (6 * 60_000, 0, true), (60_000, -86_400_000, true)] as [(Int64, Int64, Bool)]
    )
    func `one broker with a wrong clock does not stop other brokers' partitions while the local clock runs evenly`(
        later: Int64,
        setForward: Int64,
        isInDoubt: Bool
    ) {
        var watch = ClockWatch()
        #expect(watch.doubt([Self.record(age: 10, partition: 1, at: Self.now())], at: Self.now(), Self.limits) == nil)
        let now = Self.now(later, setForward: setForward)
        let odd = Self.record(age: -Self.hour, partition: 0, at: now)
        #expect((watch.doubt([odd], at: now, Self.limits) != nil) == isInDoubt)
    }

    @Test(arguments: [0, 30 * 60_000] as [Int64])
    func `a backlog that is too old does not put the clock in doubt`(later: Int64) {
        var watch = ClockWatch()
        #expect(Self.doubt([97 * Self.hour, 200 * Self.hour], &watch, at: Self.now()) == nil)
        // The clock agreed before; another partition's backlog may still be old.
        #expect(Self.doubt([10], &watch, at: Self.now()) == nil)
        #expect(Self.doubt([97 * Self.hour, 200 * Self.hour], &watch, at: Self.now(later)) == nil)
    }

    @Test(
        arguments: [(97, 97, true), (97, 300, false), (2, 97, true), (2, 99, false), (96, 100, true)]
            as [(Int64, Int64, Bool)]
    )
    func `a clock set forward after it agreed is in doubt if the records are young by its earlier time`(
        hours: Int64,
        age: Int64,
        isInDoubt: Bool
    ) {
        var watch = ClockWatch()
        #expect(Self.doubt([10], &watch, at: Self.now()) == nil)
        let now = Self.now(Self.minute, setForward: hours * Self.hour)
        let found = Self.doubt([age * Self.hour], &watch, at: now)
        #expect((found != nil) == isInDoubt)
        if let found { #expect(!found.isAhead && found.milliseconds == age * Self.hour) }
    }

    @Test func `a clock that is wrong from the start and then corrected is trusted`() {
        var watch = ClockWatch()
        // Three days behind, with a backlog of four: it looks a day old, which does not confirm the clock.
        #expect(Self.doubt([Self.day], &watch, at: Self.now()) == nil)
        let now = Self.now(Self.minute, setForward: 3 * Self.day)
        #expect(Self.doubt([4 * Self.day + Self.hour], &watch, at: now) == nil)
    }
}
