internal import AppAttest
internal import DeviceLab
internal import Risk
internal import RiskKit
internal import TestKit
internal import Testing

@Suite("The rate of calls")
struct CallRateTests {
    /// A bucket of one partition, all of whose lines are here.
    private func bucket(_ callsPerSecond: Double, pairs: Int = 3, partitions: Int = 1) -> CallBucket {
        var bucket = CallBucket(callsPerSecond: callsPerSecond)
        bucket.assign(pairs: pairs, partitions: partitions)
        return bucket
    }

    /// The times of so many calls, each as early as it may be and up to `lateness` milliseconds later.
    private func times(
        _ bucket: inout CallBucket,
        _ count: Int,
        lateness: Int64 = 0,
        seed: UInt64 = 1
    ) -> [EvaluationTime] {
        var (random, now) = (SeededRandom(seed: seed), Sample.start)
        return (0..<count).map { _ in
            let free = max(bucket.next ?? .never, bucket.next(in: .production))
            now = max(now, free).after(milliseconds: Int64.random(in: 0...lateness, using: &random))
            bucket.take(.first, .production, at: now)
            bucket.end()
            return now
        }
    }

    @Test(arguments: [0.1, 0.7, 1, 3, 10, 33.3, 300, 700, 999, 1_000], [0, 1, 5, 900] as [Int64])
    func `no window has more calls than the rate allows`(rate: Double, lateness: Int64) {
        var bucket = bucket(rate)
        let times = times(&bucket, 2_000, lateness: lateness)
        #expect(RunAudit.keepsRate(times, callsPerSecond: rate))
        #expect(!RunAudit.keepsRate(times, callsPerSecond: rate * 0.2) || lateness > 1)
    }

    @Test(arguments: [0.1, 3, 33.3, 300, 700, 1_000])
    func `calls that are never late reach the rate`(rate: Double) {
        var bucket = bucket(rate)
        let times = times(&bucket, 2_000)
        let seconds = Double(times[1_999].since(times[0])) / 1_000
        #expect(abs(1_999 / seconds / rate - 1) < 0.01)
    }

    @Test func `a pause is not made up for by a burst`() {
        var bucket = bucket(10)
        bucket.take(.first, .production, at: Sample.start)
        #expect(bucket.next == Sample.at(100))
        bucket.take(.first, .production, at: Sample.at(60_000))
        #expect(bucket.next == Sample.at(60_100))
    }

    @Test(arguments: [(3, 1, 12.0), (1, 1, 4.0), (6, 4, 6.0), (12, 4, 12.0), (0, 4, 0.0)])
    func `an instance has the part of its pairs`(pairs: Int, partitions: Int, rate: Double) {
        let bucket = bucket(12, pairs: pairs, partitions: partitions)
        #expect(abs(bucket.rate(in: .production) - rate) < 0.001)
        #expect((bucket.next == nil) == (pairs == 0))
    }

    @Test func `a changed setting counts from the next call on`() {
        var bucket = bucket(1)
        bucket.change(callsPerSecond: 4)
        bucket.take(.first, .production, at: Sample.start)
        #expect(bucket.next == Sample.at(250))
    }

    @Test func `at most 64 calls are in flight`() {
        var bucket = bucket(1_000)
        for index in 0..<CallBucket.mostInFlight {
            bucket.take(.first, .production, at: Sample.at(Int64(index)))
        }
        #expect(bucket.inFlight == 64 && bucket.next == nil)
        bucket.end()
        #expect(bucket.next == Sample.at(64))
    }

    @Test(.startsItself) func `a call before its time traps`() async {
        await #expect(processExitsWith: .failure) {
            var bucket = CallBucket(callsPerSecond: 1)
            bucket.assign(pairs: 3, partitions: 1)
            bucket.take(.first, .production, at: Sample.start)
            bucket.take(.first, .production, at: Sample.at(999))
        }
    }

    @Test func `an answer 429 halves the rate of its environment alone, once in ten seconds`() {
        var bucket = bucket(8)
        bucket.wasThrottled(in: .production, at: Sample.start)
        #expect(bucket.rate(in: .production) == 4 && bucket.rate(in: .development) == 8)
        #expect(bucket.isLowered(in: .production) && !bucket.isLowered(in: .development))
        bucket.wasThrottled(in: .production, at: Sample.at(9_999))
        #expect(bucket.rate(in: .production) == 4)
        bucket.wasThrottled(in: .production, at: Sample.at(10_000))
        #expect(bucket.rate(in: .production) == 2)
    }

    @Test(arguments: [(8.0, 1.0 / 60), (0.05, 1.0 / 60), (0.01, 0.01)])
    func `the rate falls to one call a minute, and not below`(setting: Double, least: Double) {
        var bucket = bucket(setting)
        for index in 0..<20 { bucket.wasThrottled(in: .production, at: Sample.at(Int64(index) * 10_000)) }
        #expect(abs(bucket.rate(in: .production) / least - 1) < 0.001)
    }

    @Test func `each minute without an answer 429 gives back 5 % of the setting`() {
        var bucket = bucket(100)
        bucket.wasThrottled(in: .production, at: Sample.start)
        func rate(_ milliseconds: Int64) -> Double {
            var copy = bucket
            copy.take(.first, .production, at: Sample.at(milliseconds))
            return copy.rate(in: .production)
        }
        for (time, expected) in [(59_999, 50), (60_000, 55), (120_000, 60), (599_999, 95), (600_000, 100)] {
            #expect(abs(rate(Int64(time)) - Double(expected)) < 0.1, "\(time)")
        }
        bucket.wasThrottled(in: .production, at: Sample.at(59_000))
        #expect(abs(rate(118_999) - 25) < 0.1)
        #expect(abs(rate(119_000) - 30) < 0.1)
    }

    @Test func `quiet minutes count without calls too`() {
        var bucket = bucket(100)
        bucket.wasThrottled(in: .development, at: Sample.start)
        bucket.restore(at: Sample.at(59_999))
        #expect(bucket.isLowered(in: .development))
        bucket.restore(at: Sample.at(10 * Milliseconds.minute))
        #expect(!bucket.isLowered(in: .development) && bucket.rate(in: .development) == 100)
    }

    @Test func `a lowered rate is kept in every window too`() {
        var bucket = bucket(40)
        bucket.wasThrottled(in: .production, at: Sample.at(-1_000))
        #expect(RunAudit.keepsRate(times(&bucket, 500), callsPerSecond: 20))
    }

    @Test(arguments: [(7_000, 7_000), (3_600_000, 3_600_000), (3_600_001, 3_600_000), (-5, 0), (.max, 3_600_000)])
    func `Retry-After counts up to an hour, for its environment`(milliseconds: Int64, expected: Int64) {
        var bucket = bucket(10)
        bucket.pause(.production, milliseconds: milliseconds, at: Sample.start)
        #expect(bucket.next(in: .production) == Sample.at(expected))
        #expect(bucket.next(in: .development) < Sample.start)
        bucket.pause(.production, milliseconds: 0, at: Sample.start)
        #expect(bucket.next(in: .production) == Sample.at(expected))
    }

    @Test(
        arguments: [
            ([true, true, true], [30, 10, 10]), ([true, true, false], [30, 10, 0]),
            ([true, false, false], [50, 0, 0]),
            ([false, true, true], [0, 25, 25]),
        ]
    )
    func `lines with due visits share the calls 3 : 1 : 1`(due: [Bool], expected: [Int]) {
        var (shares, counts) = (LineShares(), [0, 0, 0])
        let total = expected.reduce(0, +)
        for _ in 0..<total {
            guard let line = shares.turn([due[0], due[1], due[2]]) else { break }
            shares.take(line)
            counts[line.rawValue] += 1
        }
        for line in 0..<3 { #expect(abs(counts[line] - expected[line]) <= 1, "\(counts)") }
        #expect(shares.turn([false, false, false]) == nil)
    }

    @Test func `a line that was idle has no claim on the past`() {
        var shares = LineShares()
        for _ in 0..<1_000 { shares.take(.again) }
        var counts = [0, 0, 0]
        for _ in 0..<8 {
            guard let line = shares.turn([false, true, true]) else { break }
            shares.take(line)
            counts[line.rawValue] += 1
        }
        #expect(counts == [0, 4, 4])
    }

    @Test func `retries wait 1 s to 5 min, over a span that doubles`() {
        var random = SeededRandom(seed: 3)
        for keptBefore in [-1, 0, 1, 2, 5, 7, 8, 100, .max] {
            let longest = RetryDelay.longest(keptBefore: keptBefore)
            let doubled = Int64(2_000) << Int64(min(max(0, keptBefore), 8))
            #expect(longest == min(300_000, doubled))
            let delays = (0..<500).map { _ in RetryDelay.milliseconds(keptBefore: keptBefore, using: &random) }
            #expect(delays.allSatisfy { (1_000...longest).contains($0) })
            // Full jitter: the whole span is used.
            let span = Double(longest - 1_000)
            #expect(Double(delays.min() ?? 0) < 1_000 + span * 0.1 && Double(delays.max() ?? 0) > 1_000 + span * 0.9)
        }
    }

    @Test func `retries of the same seed are the same`() {
        var (one, two) = (SeededRandom(seed: 9), SeededRandom(seed: 9))
        for keptBefore in 0..<20 {
            let first = RetryDelay.milliseconds(keptBefore: keptBefore, using: &one)
            #expect(first == RetryDelay.milliseconds(keptBefore: keptBefore, using: &two))
        }
    }
}
