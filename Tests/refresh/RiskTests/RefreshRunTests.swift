internal import AppAttest
internal import Risk
internal import RiskKit
internal import Testing

@Suite("Runs over a simulated topic, under seeds")
struct RefreshRunTests {
    @Test(arguments: UInt64(1)...12)
    func `every due receipt is visited, none too early, too late or too often, no position passes an open call`(
        seed: UInt64
    ) throws {
        var plan = RunPlan(seed: seed)
        plan.isCompacted = !seed.isMultiple(of: 3)
        let audit = try RefreshRun.audit(plan)
        #expect(audit.breaches == [], "seed \(seed)")
        #expect(audit.calls.count > 500)
        #expect(RunAudit.keepsRate(audit.calls.map(\.at), callsPerSecond: plan.callsPerSecond), "seed \(seed)")
        for outcome in ["verified", "absent", "throttled", "timed-out", "unauthorized", "invalid-answer"] {
            #expect(audit.outcomes[outcome] ?? 0 > 0, "seed \(seed): no \(outcome)")
        }
    }

    @Test(arguments: UInt64(20)...23)
    func `an Apple without faults is called a known number of times`(seed: UInt64) throws {
        var plan = RunPlan(seed: seed)
        (plan.faults, plan.crashes, plan.rarity) = (0, 0, .max)
        let audit = try RefreshRun.audit(plan)
        #expect(audit.breaches == [])
        // A chain has its first call, one every seven days, and the two that Apple has no data for: 35 and 30 + 28 days
        // after an attestation.
        let each = audit.calls.count / plan.keys
        #expect((6...11).contains(each), "\(audit.calls.count) calls of \(plan.keys) keys")
        #expect(audit.outcomes.keys.sorted() == ["absent", "verified"])
    }

    @Test func `the same seed makes the same calls, another one others`() throws {
        var plan = RunPlan(seed: 77)
        plan.keys = 40
        let (one, two) = (try RefreshRun.audit(plan), try RefreshRun.audit(plan))
        #expect(one.calls == two.calls && one.outcomes == two.outcomes)
        plan.seed = 78
        #expect(try RefreshRun.audit(plan).calls != one.calls)
    }

    @Test(arguments: [0.02, 0.2, 50])
    func `a low rate makes visits late and a high one does not make them early`(rate: Double) throws {
        var plan = RunPlan(seed: 5)
        (plan.callsPerSecond, plan.keys) = (rate, 60)
        let audit = try RefreshRun.audit(plan)
        #expect(audit.breaches == [])
        #expect(RunAudit.keepsRate(audit.calls.map(\.at), callsPerSecond: rate))
    }

    @Test func `a rate is exceeded by one call too early in any window`() {
        let even = (0..<20).map { Sample.at(Int64($0) * 100) }
        #expect(RunAudit.keepsRate(even, callsPerSecond: 10))
        for index in 1..<19 {
            var times = even
            times[index] = Sample.at(Int64(index) * 100 - 2)
            #expect(!RunAudit.keepsRate(times, callsPerSecond: 10))
        }
        // One second's calls at once are above the rate as well.
        #expect(!RunAudit.keepsRate((0..<10).map { _ in Sample.start }, callsPerSecond: 10))
    }

    @Test func `a month's desk does not grow, and its calls are the same twice`() throws {
        let small = try MonthRun.run(MonthRun.Plan(receipts: 3_000))
        let large = try MonthRun.run(MonthRun.Plan(receipts: 12_000))
        #expect(large.records == 12_000 && large.early == 0)
        #expect(large.visits[0] > 2_700 && large.visits[1] > 9_000 && large.visits[2] > 6_000)
        #expect(large.calls == large.visits.reduce(0, +) && large.verified > large.calls * 8 / 10)
        // 64 records for each of the pairs, whatever the number of receipts.
        let most = LinePartition.mostPrefetched * 36
        #expect(small.mostPrefetched <= most && large.mostPrefetched <= most)
        #expect(large.mostUnfinished <= CallBucket.mostInFlight && large.longestLag < Milliseconds.hour)
        #expect(try MonthRun.run(MonthRun.Plan(receipts: 3_000)) == small)
    }
}
