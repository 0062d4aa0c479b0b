import DeviceLab
import Pipeline
import Testing

/// A window of counters against what it says: each one once, within so many of the highest.
@Suite("Counters of a key")
struct KeyCountersTests {
    /// What the page says, with sets.
    private struct Model {
        var highest: UInt32 = 0
        var used: Set<UInt32> = []

        func accepts(_ counter: UInt32, window: Int) -> Bool {
            counter > highest || (counter > 0 && Int(highest - counter) <= window && !used.contains(counter))
        }

        mutating func use(_ counter: UInt32) {
            used.insert(counter)
            highest = max(highest, counter)
        }
    }

    @Test(arguments: [0, 1, 2, 7, 63, 64], [1, 3, 40, 200] as [UInt32])
    func `a counter is accepted once, above the highest or skipped within the window`(window: Int, reach: UInt32) {
        var random = SeededRandom(seed: UInt64(window) * 1_000 + UInt64(reach))
        var (model, counters) = (Model(), KeyCounters(highest: 0))
        var (accepted, behind) = (0, 0)
        for _ in 0..<2_000 {
            let low = model.highest > reach ? model.highest - reach : 0
            let counter = UInt32.random(in: low...model.highest + max(1, reach / 8), using: &random)
            let expected = model.accepts(counter, window: window)
            #expect(counters.accepts(counter, window: window) == expected, "\(counter) after \(model.highest)")
            guard expected else { continue }
            accepted += 1
            if counter < model.highest { behind += 1 }
            model.use(counter)
            counters.use(counter, window: window)
            #expect(counters.highest == model.highest && !counters.accepts(counter, window: 64))
        }
        #expect(accepted > 50)
        #expect((behind > 0) == (window > 0 && reach > 8), "\(behind)")
    }

    @Test(arguments: [1, 2, 62, 63, 64, 65, 66, 1_000, UInt32.max] as [UInt32])
    func `a jump of any size leaves open what lies between, as far as the window`(counter: UInt32) {
        var counters = KeyCounters(highest: 0)
        counters.use(counter, window: 64)
        let expected = counter == 1 ? [] : Array((counter > 64 ? counter - 64 : 1)..<counter)
        #expect(counters.skippedCounters == expected)
        #expect(!counters.accepts(0, window: 64) && !counters.accepts(counter, window: 64))
        // Without room above, the highest counter there is ends the key, window or not.
        #expect(counters.accepts(.max, window: 64) == (counter != .max))
        #expect(KeyCounters(highest: counter, skipped: expected) == counters)
    }

    @Test func `a window that is narrowed or closed forgets what lies outside at the next use`() {
        var counters = KeyCounters(highest: 0)
        counters.use(10, window: 64)
        #expect(!counters.accepts(4, window: 5) && counters.accepts(5, window: 5))
        counters.use(9, window: 5)
        #expect(counters.skippedCounters == [5, 6, 7, 8])
        #expect(!counters.accepts(4, window: 64), "wider again, it opens nothing")
        counters.use(11, window: 0)
        #expect(counters == KeyCounters(highest: 11))
        #expect(!counters.accepts(8, window: 64))
    }

    @Test(arguments: [[0], [7], [8], [0, 3]] as [[UInt32]])
    func `a list with the highest, a higher one or 0 is none`(skipped: [UInt32]) {
        #expect(KeyCounters(highest: 7, skipped: skipped) == nil)
        #expect(KeyCounters(highest: 7, skipped: [1, 6]) != nil)
        #expect(KeyCounters(highest: 70, skipped: [5]) == nil && KeyCounters(highest: 70, skipped: [6]) != nil)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `joined records leave unused what both do, in either order`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var used: [Set<UInt32>] = [[], []]
        var sides = [KeyCounters(highest: 0), KeyCounters(highest: 0)]
        for _ in 0..<60 {
            let side = Int.random(in: 0...1, using: &random)
            let counter = UInt32.random(in: 1...sides[side].highest + 4, using: &random)
            guard sides[side].accepts(counter, window: 64) else { continue }
            sides[side].use(counter, window: 64)
            used[side].insert(counter)
        }
        let joined = sides[0].joined(sides[1])
        #expect(joined == sides[1].joined(sides[0]))
        #expect(joined.joined(sides[0]) == joined && sides[0].joined(sides[0]) == sides[0])
        let highest = max(sides[0].highest, sides[1].highest)
        #expect(joined.highest == highest)
        let either = used[0].union(used[1]).union([highest])
        let expected = (1...highest).filter { highest - $0 <= 64 && !either.contains($0) }
        #expect(joined.skippedCounters == expected)
    }
}
