import Pipeline
import Streams
import TestKit
import Testing

@testable import Pipeline
@testable import Run

@Suite("Hung lanes")
struct LaneWatchTests {
    private static let start = anyMoment

    /// Looks ten times a second. - Returns: the first finding, and after how many seconds.
    private static func poll(
        _ watch: inout LaneWatch,
        seconds: Int,
        between: (Int) -> Void = { _ in }
    ) -> (hung: HungWork, after: Duration)? {
        for tick in 1...seconds * 10 {
            between(tick)
            let passed = Duration.milliseconds(100 * tick)
            if let hung = watch.poll(at: start + passed) { return (hung, passed) }
        }
        return nil
    }

    private static func record(_ offset: Int64) -> InboundRecord {
        RequestRecords.record(Array("{}".utf8), key: nil, offset: offset)
    }

    @Test func `a lane that stays on one grain past the limit is found, with its records' places`() throws {
        let (idle, slot) = (WorkSlot(), WorkSlot())
        var watch = LaneWatch([idle, slot], limit: .seconds(3), at: Self.start)
        let found = slot.during(.verifying, alone: false) {
            for offset in 7...9 as ClosedRange<Int64> { slot.note(Self.record(offset)) }
            slot.noteAll()
            return Self.poll(&watch, seconds: 5)
        }
        let hung = try #require(found)
        #expect(hung.after >= .seconds(3) && hung.after < .milliseconds(3_300))
        let sentence = hung.hung.sentence(topic: "requests")
        #expect(sentence.contains("verifying has not finished for 3 s"))
        #expect(sentence.contains("requests/0/7, requests/0/8, requests/0/9;"), "\(sentence)")
    }

    @Test func `a grain of many records names only some`() throws {
        let slot = WorkSlot()
        var watch = LaneWatch([slot], limit: .seconds(1), at: Self.start)
        let many = slot.during(.verifying, alone: false) {
            for offset in 0..<20 as Range<Int64> { slot.note(Self.record(offset)) }
            slot.noteAll()
            return Self.poll(&watch, seconds: 3)
        }
        #expect(try #require(many).hung.sentence(topic: "r").contains("r/0/7 and 12 more;"))
    }

    @Test func `a lane that moves from grain to grain, or is idle, does not hang`() {
        let slot = WorkSlot()
        var watch = LaneWatch([slot], limit: .seconds(2), at: Self.start)
        #expect(Self.poll(&watch, seconds: 5) == nil)
        let hung = Self.poll(&watch, seconds: 10) { _ in
            slot.during(.decoding, alone: false) { slot.note(Self.record(1)) }
        }
        #expect(hung == nil)
    }

    @Test func `time without a look, as in a stopped process, counts as one second`() {
        let slot = WorkSlot()
        var watch = LaneWatch([slot], limit: .seconds(60), at: Self.start)
        slot.during(.verifying, alone: false) {
            slot.note(Self.record(1))
            #expect(watch.poll(at: Self.start + .seconds(1)) == nil)
            #expect(watch.poll(at: Self.start + .seconds(4_000)) == nil)
            #expect(watch.poll(at: Self.start + .seconds(8_000)) == nil)
        }
    }
}
