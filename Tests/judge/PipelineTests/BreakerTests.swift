import AppAttest
import Streams
import Testing

@testable import Pipeline

@Suite("The breaker")
struct BreakerTests {
    private static func time(_ milliseconds: Int64) -> EvaluationTime { EvaluationTime(milliseconds: milliseconds) }

    private static var breaker: Breaker {
        var limits = Breaker.Limits()
        (limits.window, limits.most, limits.pause) = (100, 5, 1_000)
        return Breaker(limits: limits)
    }

    private static func expect(_ breaker: inout Breaker, allows: Bool, at milliseconds: Int64) {
        let allowed = breaker.allows(at: time(milliseconds))
        #expect(allowed == allows)
        #expect(breaker.isOpen != allows)
    }

    @Test func `the breaker opens on internal faults for its pause, and starts a new count afterwards`() {
        var breaker = Self.breaker
        breaker.add(records: 10, internal: 4, at: Self.time(0))
        Self.expect(&breaker, allows: true, at: 0)
        breaker.add(records: 10, internal: 1, at: Self.time(7))
        #expect(breaker.isOpen)
        Self.expect(&breaker, allows: false, at: 7)
        Self.expect(&breaker, allows: false, at: 1_006)
        Self.expect(&breaker, allows: true, at: 1_007)
        breaker.add(records: 10, internal: 4, at: Self.time(1_008))
        #expect(!breaker.isOpen, "faults before the pause count no more")
    }

    @Test func `refused requests never open the breaker, however many there are`() {
        var breaker = Self.breaker
        for batch in 0..<1_000 as Range<Int64> { breaker.add(records: 10_000, internal: 0, at: Self.time(batch)) }
        #expect(!breaker.isOpen)
    }

    @Test func `few faults among many records do not add up`() {
        var breaker = Self.breaker
        for batch in 0..<100 as Range<Int64> {
            breaker.add(records: 100, internal: 4, at: Self.time(batch))
            #expect(!breaker.isOpen)
        }
    }
}

@Suite("The search for a record whose output is refused")
struct BisectionTests {
    private static func positions(_ offset: Int64, _ partition: Int32 = 0) -> [PartitionPosition] {
        [PartitionPosition(partition: partition, offset: offset)]
    }

    /// Feeds `count` records of one partition through streams that refuse some of them.
    ///
    /// - Returns: the dead letters and the number of transactions that were tried.
    private static func search(_ count: Int64, refused: Set<Int64>, batch: Int) -> (letters: Set<Int64>, tries: Int) {
        var bisection = Bisection()
        var (next, tries) = (Int64(0), 0)
        var letters: Set<Int64> = []
        while next < count, tries < 10_000 {
            tries += 1
            let end = min(count, next + Int64(min(batch, bisection.limit ?? batch)))
            let poison = Set(bisection.poison.filter { $0.partition == 0 }.map(\.offset))
            if refused.contains(where: { $0 >= next && $0 < end && !poison.contains($0) }) {
                let canGoOn = bisection.failed(positions(end), count: Int(end - next))
                #expect(canGoOn)
                continue
            }
            letters.formUnion(poison.filter { $0 >= next && $0 < end })
            bisection.committed(positions(end))
            next = end
        }
        #expect(bisection.limit == nil && bisection.poison.isEmpty, "the search is over")
        return (letters, tries)
    }

    @Test(
        arguments: [[], [0], [99], [50], [3, 4], [0, 1, 2], [10, 60, 61, 99]] as [Set<Int64>],
        [1, 2, 7, 64, 100]
    )
    func `the search finds every refused record, and no other`(refused: Set<Int64>, batch: Int) {
        let (letters, _) = Self.search(100, refused: refused, batch: batch)
        #expect(letters == refused)
    }

    @Test func `finding one refused record takes a logarithm of attempts, and one more pass over its batch`() {
        let (_, tries) = Self.search(1_024, refused: [700], batch: 1_024)
        #expect(tries <= 1_024 + 12)
        #expect(Self.search(1_024, refused: [], batch: 1_024).tries == 1)
    }

    @Test func `a refused dead letter that is alone ends the search`() {
        var bisection = Bisection()
        let canGoOn = bisection.failed(Self.positions(8), count: 1)
        #expect(canGoOn)
        #expect(bisection.poison == [RecordPlace(partition: 0, offset: 7)])
        let canBeShortened = bisection.failed(Self.positions(8), count: 1)
        #expect(canBeShortened && bisection.shortened == bisection.poison)
        let canStillGoOn = bisection.failed(Self.positions(8), count: 1)
        #expect(!canStillGoOn)
        bisection.committed(Self.positions(8))
        #expect(bisection.shortened.isEmpty && bisection.poison.isEmpty && bisection.limit == nil)
    }

    @Test func `a record that a setting refuses is never given up, and the search waits for it`() {
        var bisection = Bisection()
        for count in [8, 4, 1, 1, 1] {
            let goesOn = bisection.failed(Self.positions(8), count: count, isSetting: count == 1)
            #expect(goesOn && bisection.poison.isEmpty)
        }
        #expect(bisection.limit == 1)
        bisection.committed(Self.positions(8))
        #expect(bisection.limit == nil)
    }

    @Test func `revoked partitions drop their suspects`() {
        var bisection = Bisection()
        _ = bisection.failed(Self.positions(8) + Self.positions(4, 1), count: 2)
        _ = bisection.failed(Self.positions(8), count: 1)
        bisection.forget([0])
        #expect(bisection.poison.isEmpty)
        #expect(bisection.limit == 1, "partition 1 is still under suspicion")
        bisection.forget([1])
        #expect(bisection.limit == nil)
    }
}
