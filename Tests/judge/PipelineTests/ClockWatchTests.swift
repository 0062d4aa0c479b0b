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
        var record = RequestRecords.record(nil, key: nil, partition: partition, offset: 0, timestamp: now.wall - age)
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
            ([-6 * minute], true), ([-6 * minute, -day], true), ([-5 * minute], false),
            // The records before a partition's newest one may be old.
            ([0, -6 * minute], true), ([0], false), ([], false), ([95 * hour], false), ([97 * hour], false),
            ([-6 * minute, 97 * hour], true),
        ] as [([Int64], Bool)]
    )
    func `a round that the broker dated in the future is in doubt, one within the limits is not`(
        ages: [Int64],
        isInDoubt: Bool
    ) {
        var watch = ClockWatch()
        #expect((Self.doubt(ages, &watch, at: Self.now()) != nil) == isInDoubt)
    }

    @Test func `another partition's newest record speaks for the clock, in runs and apart`() {
        let now = Self.now()
        func doubt(_ records: [(partition: Int32, age: Int64)]) -> ClockDoubt? {
            var watch = ClockWatch()
            let round = records.map { Self.record(age: $0.age, partition: $0.partition, at: now) }
            return watch.doubt(round, at: now, Self.limits)
        }
        let (ahead, behind) = (-6 * Self.minute, -7 * Self.minute)
        #expect(doubt([(0, ahead), (1, 0)]) == nil && doubt([(0, ahead), (1, -Self.minute)]) == nil)
        // One that is only less ahead: our clock is behind, and that record is older.
        for other in [-Self.minute - 1, -5 * Self.minute] { #expect(doubt([(0, ahead), (1, other)]) != nil) }
        #expect(doubt([(0, 0), (1, 0), (0, ahead), (1, behind)])?.kind == .behind(1))
        #expect(doubt([(0, 0), (1, behind), (0, ahead)])?.milliseconds == 7 * Self.minute)
    }

    @Test func `a clock that stays behind judges what has grown old enough, and refuses nothing as from the future`() {
        var watch = ClockWatch()
        let behind = 70_000 as Int64
        var limits = Self.limits
        limits.maxAheadMilliseconds = 60_000
        let first = Self.record(age: -behind, at: Self.now())
        #expect(watch.review([first], at: Self.now(), limits).mayJudge == false)
        #expect(watch.review([first], at: Self.now(10_000), limits).mayJudge)
        // A backlog behind it, its newest record appended just now; then a partition that comes later.
        let now = Self.now(10_500)
        let rest = [-60_000, -65_000, -behind].map { Self.record(age: $0, at: now) }
        #expect(watch.review(rest, at: now, limits).mayJudge == false)
        #expect(watch.review([Self.record(age: -behind, partition: 1, at: now)], at: now, limits).mayJudge == false)
    }

    @Test func `a producer's timestamp is not evidence`() {
        var watch = ClockWatch()
        let record = Self.record(age: -Self.day, at: Self.now(), logAppend: false)
        #expect(watch.doubt([record], at: Self.now(), Self.limits) == nil)
    }

    @Test func `the doubt ends when the clock is corrected`() {
        var watch = ClockWatch()
        let record = Self.record(age: -Self.day, at: Self.now())
        #expect(watch.doubt([record], at: Self.now(), Self.limits)?.kind == .behind(0))
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
        if let found { #expect(found == ClockDoubt(kind: .setForward(0), milliseconds: age * Self.hour)) }
    }

    // MARK: Ahead

    /// A worker that is so much ahead has read and written a record of this age.
    private static func writer(ahead: Int64, age: Int64 = 0) -> ClockWatch {
        var watch = ClockWatch()
        watch.broker.noteRead(wall - age, at: now(0, setForward: ahead))
        watch.broker.noteWritten(wall + 3, begun: 500, at: now(5, setForward: ahead))
        return watch
    }

    @Test(
        arguments: [
            (0, 0, false), (60_000, 0, false), (60_006, 0, true), (3_600_000, 0, true), (-90_000, 0, false),
            (0, 3 * 3_600_000, false), (3_600_000, 3 * 3_600_000, true),
        ] as [(Int64, Int64, Bool)]
    )
    func `a clock that was ahead from the start is doubted as one that is behind is, and a backlog is not`(
        ahead: Int64,
        age: Int64,
        isInDoubt: Bool
    ) {
        var watch = Self.writer(ahead: ahead, age: age)
        let now = Self.now(10, setForward: ahead)
        let review = watch.review([Self.record(age: ahead + age, at: now)], at: now, Self.limits)
        #expect(review.mayJudge != isInDoubt && (review.news is ClockDoubt) == isInDoubt)
        #expect((watch.present != nil) == isInDoubt)
        guard isInDoubt else { return }
        #expect(watch.review([], at: Self.now(20, setForward: ahead), Self.limits).news == nil, "it is said once")
        let set = watch.review([], at: Self.now(4_010), Self.limits)
        #expect(set.mayJudge && (set.news as? ClockAgreement) == ClockAgreement(seconds: 4))
    }

    @Test func `in a doubt that lasts a record is judged once in two minutes, which shows whether it is so still`() {
        var watch = Self.writer(ahead: Self.hour)
        #expect(!watch.review([], at: Self.now(10, setForward: Self.hour), Self.limits).mayJudge)
        let later = Self.now(2 * Self.minute + 10, setForward: Self.hour)
        let record = Self.record(age: Self.hour + 2 * Self.minute, at: later)
        let probe = watch.review([record], at: later, Self.limits)
        #expect(probe.mayJudge && probe.news == nil && watch.present != nil)
        #expect(watch.broker.isUnproven(at: later), "one alone")
        // The broker's clock was the wrong one, and is right now.
        watch.broker.noteWritten(later.wall, begun: later.uptime, at: later)
        #expect(watch.review([], at: later, Self.limits).news is ClockAgreement)
    }

    @Test func `a clock that is wrong from the start and then corrected is trusted`() {
        var watch = ClockWatch()
        // Three days behind, with a backlog of four: it looks a day old, which does not confirm the clock.
        #expect(Self.doubt([Self.day], &watch, at: Self.now()) == nil)
        let now = Self.now(Self.minute, setForward: 3 * Self.day)
        #expect(Self.doubt([4 * Self.day + Self.hour], &watch, at: now) == nil)
    }
}
