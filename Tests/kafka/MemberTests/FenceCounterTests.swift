import KafkaPorts
import Testing

@testable import Member

@Suite("Fencing and pauses")
struct FenceCounterTests {
    private func at(_ milliseconds: Int64) -> Moment { Moment(milliseconds: milliseconds) }

    /// Whether it is worth going on after each fencing at these times.
    private func verdicts(_ counter: FenceCounter, _ times: [Int64]) -> [Bool] {
        var counter = counter
        return times.map { counter.note(at: at($0)) }
    }

    @Test func `the fourth fencing within a minute is one too many`() {
        #expect(verdicts(.ofMember, [0, 10, 20, 59_999]) == [true, true, true, false])
        #expect(verdicts(.ofMember, [0, 10, 20, 60_000]) == [true, true, true, true])
    }

    @Test func `an own request without an answer excuses one fencing`() {
        var counter = FenceCounter.ofMember
        counter.excuse(2)
        #expect(verdicts(counter, Array(1...6)) == [true, true, true, true, true, false])
    }

    @Test func `a pause grows from 0.2 to 5 s, and a success ends it`() {
        var pause = RetryPause()
        #expect(pause.isOver(at: at(0)))
        var now: Int64 = 0
        for length in [200, 400, 800, 1_600, 3_200, 5_000, 5_000] as [Int64] {
            pause.fail(at: at(now))
            #expect(pause.left(at: at(now)) == Int(length))
            #expect(!pause.isOver(at: at(now + length - 1)) && pause.isOver(at: at(now + length)))
            now += length
        }
        pause.succeed()
        #expect(pause.isOver(at: at(now)))
    }

    @Test func `the same place unreadable three times in a row is damaged on disk`() {
        var damage = DamageTracker()
        let places: [(Int64, Bool)] = [
            (7, false), (7, false), (7, true), (7, false), (8, false), (7, false), (7, false), (7, true),
        ]
        let verdicts = places.map { damage.note(at: $0.0) }
        #expect(verdicts == places.map(\.1))
    }

    @Test func `each new assignment after failed seeks waits twice as long, a minute at most`() {
        var backoff = SeekBackoff()
        for interval in [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] as [Int64] {
            let before = backoff.isOver(after: interval - 1)
            let after = backoff.isOver(after: interval)
            #expect(!before && after)
        }
    }

    @Test func `a budget is shortened and never lengthened`() {
        let budget = CallBudget(until: at(100))
        budget.shorten(to: at(200))
        #expect(budget.left(at: at(40)) == 60)
        budget.shorten(to: at(50))
        #expect(budget.left(at: at(40)) == 10 && budget.left(at: at(90)) == 0)
        #expect(!budget.isLost)
        budget.noteLost()
        #expect(budget.isLost)
    }
}
