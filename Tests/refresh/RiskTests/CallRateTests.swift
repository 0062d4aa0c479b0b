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
    private func times(_ bucket: inout CallBucket, _ count: Int, lateness: Int64 = 0) -> [EvaluationTime] {
        var (random, now) = (SeededRandom(seed: 1), Sample.start)
        return (0..<count).map { _ in
            let free = max(bucket.next ?? .never, bucket.next(in: .production))
            now = max(now, free).after(milliseconds: Int64.random(in: 0...lateness, using: &random))
            bucket.take(.production, at: now)
            bucket.end()
            return now
        }
    }

    @Test(arguments: [0.1, 0.7, 1, 3, 10, 33.3, 300, 700, 999, 1_000], [0, 1, 5, 900] as [Int64])
    func `no window has more calls than the rate allows`(rate: Double, lateness: Int64) {
        var bucket = bucket(rate)
        let times = times(&bucket, 2_000, lateness: lateness)
        #expect(RateCheck.holds(times, callsPerSecond: rate))
        #expect(!RateCheck.holds(times, callsPerSecond: rate * 0.2) || lateness > 1)
    }

    @Test(arguments: [0.1, 3, 33.3, 300, 700, 1_000])
    func `calls that are never late reach the rate`(rate: Double) {
        var bucket = bucket(rate)
        let times = times(&bucket, 2_000)
        let seconds = Double(times[1_999].since(times[0])) / 1_000
        #expect(abs(1_999 / seconds / rate - 1) < 0.01)
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
        bucket.take(.production, at: Sample.start)
        #expect(bucket.next == Sample.at(250))
    }

    @Test func `at most 64 calls are in flight`() {
        var bucket = bucket(1_000)
        for index in 0..<CallBucket.mostInFlight {
            bucket.take(.production, at: Sample.at(Int64(index)))
        }
        #expect(bucket.inFlight == 64 && bucket.next == nil)
        bucket.end()
        #expect(bucket.next == Sample.at(64))
    }

    @Test(.startsItself) func `a call before its time traps`() async {
        await #expect(processExitsWith: .failure) {
            var bucket = CallBucket(callsPerSecond: 1)
            bucket.assign(pairs: 3, partitions: 1)
            bucket.take(.production, at: Sample.start)
            bucket.take(.production, at: Sample.at(999))
        }
    }

    @Test func `an answer 429 halves the rate of its environment alone, once in ten seconds`() {
        var bucket = bucket(8)
        _ = bucket.wasThrottled(in: .production, at: Sample.start)
        #expect(bucket.rate(in: .production) == 4 && bucket.rate(in: .development) == 8)
        #expect(bucket.isLowered(in: .production) && !bucket.isLowered(in: .development))
        _ = bucket.wasThrottled(in: .production, at: Sample.at(9_999))
        #expect(bucket.rate(in: .production) == 4)
        _ = bucket.wasThrottled(in: .production, at: Sample.at(10_000))
        #expect(bucket.rate(in: .production) == 2)
    }

    @Test(arguments: [(8.0, 1.0 / 60), (0.05, 1.0 / 60), (0.01, 0.01)])
    func `the rate falls to one call a minute, and not below`(setting: Double, least: Double) {
        var bucket = bucket(setting)
        for index in 0..<20 { _ = bucket.wasThrottled(in: .production, at: Sample.at(Int64(index) * 10_000)) }
        #expect(abs(bucket.rate(in: .production) / least - 1) < 0.001)
    }

    @Test func `each hour without an answer 429 doubles the rate, up to the setting`() {
        var bucket = bucket(100)
        for time in [0, 10_000, 20_000] as [Int64] { _ = bucket.wasThrottled(in: .production, at: Sample.at(time)) }
        // One within ten seconds of the last halving lowers nothing, and it is not quiet since before it.
        #expect(bucket.wasThrottled(in: .production, at: Sample.at(21_000)) == false)
        func rate(_ milliseconds: Int64) -> Double {
            var copy = bucket
            copy.restore(at: Sample.at(21_000 + milliseconds))
            return copy.rate(in: .production)
        }
        let hour = Milliseconds.hour
        for (time, expected) in [(hour - 1, 12.5), (hour, 25), (2 * hour, 50), (3 * hour, 100), (9 * hour, 100)] {
            #expect(abs(rate(time) - expected) < 0.1, "\(time)")
        }
    }

    @Test func `a lowered rate is kept in every window too`() {
        var bucket = bucket(40)
        _ = bucket.wasThrottled(in: .production, at: Sample.at(-1_000))
        #expect(RateCheck.holds(times(&bucket, 500), callsPerSecond: 20))
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
}
