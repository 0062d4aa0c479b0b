import DeviceLab
import Testing

@testable import Broker

/// What `requeue` remembers of a partition, as an offset and its metadata.
@Suite("Handled dead letters")
struct HandledLettersTests {
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `it knows exactly the offsets that it was given, over any round trip`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var handled = HandledLetters(next: 5)
        var known = Set<Int64>(0..<5)
        for _ in 0..<20 {
            let start = Int64.random(in: 0..<80, using: &random)
            let range = start..<start + Int64.random(in: 1..<6, using: &random)
            handled.insert([range])
            known.formUnion(range)
            for offset in 0..<90 as Range<Int64> { #expect(handled.contains(offset) == known.contains(offset)) }
            let read = try #require(HandledLetters(next: handled.next, metadata: handled.metadata))
            #expect(read == handled)
        }
        #expect(!known.contains(handled.next), "the offset is as far as it can be")
        handled.raise(to: 90)
        #expect(handled.ranges.isEmpty && handled.next == 90 && handled.metadata.isEmpty)
    }

    @Test(
        arguments: [
            "r2 1+1", "r1 0+1", "r1 1+0", "r1 -1+1", "r1 1", "r1 1+1+1", "r1 x+1", "1+1", "note of another program",
            "r1 9223372036854775807+1", "r1 1+9223372036854775807 ",
        ]
    )
    func `metadata that it did not write is refused`(text: String) {
        #expect(HandledLetters(next: 5, metadata: Array(text.utf8)) == nil)
    }

    @Test func `several hundred places fit into an offset's metadata`() {
        var handled = HandledLetters(next: 1_000_000)
        handled.insert((0..<700).map { 1_000_100 + 40 * Int64($0)..<1_000_101 + 40 * Int64($0) })
        #expect(handled.ranges.count == 700 && handled.fits)
        handled.insert((0..<700).map { 2_000_100 + 40 * Int64($0)..<2_000_101 + 40 * Int64($0) })
        #expect(!handled.fits)
    }
}
