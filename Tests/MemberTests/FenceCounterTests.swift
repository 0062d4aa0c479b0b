import KafkaPorts
import Testing

@testable import Member

@Suite("Fencings and pauses")
struct FenceCounterTests {
    private func at(_ milliseconds: Int64) -> Moment { Moment(milliseconds: milliseconds) }

    @Test func `the fourth fencing within a minute is one too many`() {
        var counter = FenceCounter.ofMember
        for time in [0, 10, 20] as [Int64] { #expect(counter.note(at: at(time))) }
        var later = counter
        #expect(!counter.note(at: at(59_999)))
        #expect(later.note(at: at(60_000)))
    }

    @Test func `a static member leaves the verdict to its member's name`() {
        var counter = FenceCounter.ofWriter(isStaticMember: true)
        for time in 1...12 as ClosedRange<Int64> { #expect(counter.note(at: at(time))) }
        #expect(!counter.note(at: at(13)))
        counter = .ofWriter(isStaticMember: false)
        for time in 1...3 as ClosedRange<Int64> { #expect(counter.note(at: at(time))) }
        #expect(!counter.note(at: at(4)))
    }

    @Test func `an own request without an answer excuses one fencing`() {
        var counter = FenceCounter.ofMember
        counter.excuse(2)
        for time in 1...5 as ClosedRange<Int64> { #expect(counter.note(at: at(time))) }
        #expect(!counter.note(at: at(6)))
    }

    @Test func `a pause grows from 0.2 to 5 s, and a success ends it`() {
        var pause = RetryPause()
        #expect(pause.isOver(at: at(0)))
        var now: Int64 = 0
        for length in [200, 400, 800, 1_600, 3_200, 5_000, 5_000] as [Int64] {
            pause.fail(at: at(now))
            #expect(!pause.isOver(at: at(now + length - 1)) && pause.isOver(at: at(now + length)))
            now += length
        }
        pause.succeed()
        #expect(pause.isOver(at: at(now)))
    }

    @Test func `the same place unreadable three times in a row is damaged on disk`() {
        var damage = DamageTracker()
        #expect(!damage.note(at: 7) && !damage.note(at: 7) && damage.note(at: 7))
        #expect(!damage.note(at: 7) && !damage.note(at: 8) && !damage.note(at: 7) && !damage.note(at: 7))
        #expect(damage.note(at: 7))
    }

    @Test func `each new assignment after failed seeks waits twice as long, a minute at most`() {
        var backoff = SeekBackoff()
        for patience in [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] as [Int64] {
            #expect(!backoff.isOver(after: patience - 1))
            #expect(backoff.isOver(after: patience))
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
