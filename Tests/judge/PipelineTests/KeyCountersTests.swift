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
        /// Nothing up to here is opened; nil = nothing was accepted since an import.
        var closed: UInt32? = 0

        func accepts(_ counter: UInt32, window: Int) -> Bool {
            guard counter <= highest, let closed else { return counter > highest }
            return counter > closed && Int(highest - counter) <= window && !used.contains(counter)
        }

        mutating func use(_ counter: UInt32, window: Int) {
            if counter > highest {
                let isSure = closed.map { highest > 0 && $0 <= highest } ?? false
                if closed == nil || (!isSure && Int(counter - highest) > window + 1) {
                    closed = max(closed ?? 0, counter + UInt32(window))
                }
            }
            used.insert(counter)
            highest = max(highest, counter)
        }
    }

    @Test(arguments: [0, 1, 2, 7, 63, 64], [1, 3, 40, 200] as [UInt32])
    func `a counter is accepted once, above the highest or skipped within the window`(window: Int, reach: UInt32) {
        var random = SeededRandom(seed: UInt64(window) * 1_000 + UInt64(reach))
        var (model, counters) = (Model(), KeyCounters(highest: 0))
        if Bool.random(using: &random) {
            (model.highest, model.closed) = (100, nil)
            counters = KeyCounters(highest: 100, unseen: KeyCounters.allUnseen)
        }
        var (accepted, behind) = (0, 0)
        for _ in 0..<2_000 {
            let low = model.highest > reach ? model.highest - reach : 0
            let counter = UInt32.random(in: low...model.highest + max(1, reach / 8), using: &random)
            let expected = model.accepts(counter, window: window)
            #expect(counters.accepts(counter, window: window) == expected, "\(counter) after \(model.highest)")
            guard expected else { continue }
            accepted += 1
            if counter < model.highest { behind += 1 }
            model.use(counter, window: window)
            counters.use(counter, window: window)
            #expect(counters.highest == model.highest && !counters.accepts(counter, window: 64))
        }
        #expect(accepted > 50)
        #expect((behind > 0) == (window > 0 && reach > 8), "\(behind)")
    }

    @Test(arguments: [1, 2, 62, 63, 64, 65, 66, 1_000, UInt32.max] as [UInt32])
    func `a jump of any size leaves open what lies between, as far as the window`(counter: UInt32) {
        var counters = KeyCounters(highest: 1)
        counters.use(1 + min(counter, .max - 1), window: 64)
        let counter = counters.highest
        let expected = Array((counter > 66 ? counter - 64 : 2)..<counter)
        #expect(counters.skippedCounters == expected)
        #expect(!counters.accepts(0, window: 64) && !counters.accepts(counter, window: 64))
        // Without room above, the highest counter there is ends the key, window or not.
        #expect(counters.accepts(.max, window: 64) == (counter != .max))
        #expect(KeyCounters(highest: counter, skipped: expected) == counters)
    }

    @Test func `a window that is narrowed or closed forgets what lies outside at the next use`() {
        var counters = KeyCounters(highest: 0)
        counters.use(10, window: 64)
        #expect(counters.unseen == 0 && !counters.accepts(4, window: 5) && counters.accepts(5, window: 5))
        counters.use(9, window: 5)
        #expect(counters.skippedCounters == [5, 6, 7, 8])
        #expect(!counters.accepts(4, window: 64), "wider again, it opens nothing")
        counters.use(11, window: 0)
        #expect(counters == KeyCounters(highest: 11))
        #expect(!counters.accepts(8, window: 64))
    }

    /// How a record begins, the counters that are accepted then, and what is open behind them.
    private static let births:
        [(name: String, start: KeyCounters, window: Int, used: [UInt32], open: [UInt32], unseen: UInt8)] = {
            let attested = KeyCounters(highest: 0)
            let imported = KeyCounters(highest: 100, unseen: KeyCounters.allUnseen)
            let restored = KeyCounters(highest: 0, unseen: KeyCounters.allUnseen)
            return [
                ("attested, overtaken at once", attested, 8, [5], [1, 2, 3, 4], 0),
                ("attested, as far as the window", attested, 8, [9], Array(1...8), 0),
                ("attested again after forget", attested, 8, [11], [], 8),
                ("the same, further on", attested, 8, [11, 20], [], 0),
                ("the same, once all is known", attested, 8, [11, 19, 22], [20, 21], 0),
                ("the same with a wide window", attested, 64, [11], Array(1...10), 0),
                ("attested, strict", attested, 0, [5], [], 255),
                ("imported, the next counter", imported, 8, [101], [], 8),
                ("imported, used up to 150 since", imported, 64, [151], [], 64),
                ("the same, overtaken soon after", imported, 64, [151, 153], [], 62),
                ("the same with the greatest window's reach", imported, 64, [151, 215, 217], [216], 0),
                ("imported, a captured one first", imported, 8, [101, 151], [], 8),
                ("imported, strict", imported, 0, [151, 153], [], 255),
                ("imported, near the end", imported, 8, [.max - 1, .max], [], 7),
                ("restored", restored, 8, [3], [], 8),
                ("restored by a late one", restored, 8, [149, 151], [], 6),
            ]
        }()

    @Test(arguments: births.indices)
    func `a jump opens nothing that may have been used unseen`(row: Int) {
        let (name, start, window, used, open, unseen) = Self.births[row]
        var counters = start
        for counter in used {
            #expect(counters.accepts(counter, window: window), "\(name)")
            counters.use(counter, window: window)
        }
        #expect(counters.skippedCounters == open, "\(name)")
        #expect(counters.unseen == unseen, "\(name)")
    }

    @Test func `a window that is set later opens nothing that an import did not cover`() {
        var counters = KeyCounters(highest: 100, unseen: KeyCounters.allUnseen)
        // The device was at 150 when its ledger was lost.
        counters.use(120, window: 0)
        counters.use(151, window: 8)
        #expect(counters.skippedCounters.isEmpty && (101...150).allSatisfy { !counters.accepts($0, window: 8) })
    }

    /// A device whose requests overtake each other within the window; its ledger is replaced by an export of any time,
    /// and its next request may be one of those on their way.
    @Test(arguments: [1, 4, 8, 64], 1...50 as ClosedRange<UInt64>)
    func `after an import no counter that was used before is open behind the device's own`(window: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed * 100 + UInt64(window))
        func arrivals(_ counters: ClosedRange<UInt32>) -> [UInt32] {
            counters.map { ($0, 2 * Int($0) + Int.random(in: 0...2 * window + 1, using: &random)) }
                .sorted { $0.1 < $1.1 }.map(\.0)
        }
        let sent = arrivals(1...300)
        let loss = Int.random(in: 100..<250, using: &random)
        let cut = Int.random(in: 0..<loss, using: &random)
        var (first, export) = (KeyCounters(highest: 0), KeyCounters(highest: 0))
        var used: Set<UInt32> = []
        for (index, counter) in sent[..<loss].enumerated() {
            if first.accepts(counter, window: window) {
                first.use(counter, window: window)
                used.insert(counter)
            }
            if index == cut { export = KeyCounters(highest: first.highest, unseen: KeyCounters.allUnseen) }
        }
        var behind = 0
        for counter in sent[loss...] {
            guard export.accepts(counter, window: window) else { continue }
            if counter < export.highest { behind += 1 }
            export.use(counter, window: window)
            guard export.highest > first.highest else { continue }
            for known in used { #expect(!export.accepts(known, window: window), "\(known) behind \(export.highest)") }
        }
        #expect(window > 4 || behind > 0, "the window opens again")
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
