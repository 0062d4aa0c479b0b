internal import AppAttest
internal import Risk
internal import RiskKit
internal import Testing

@Suite("The driver over a simulated group, producer and Apple, under seeds")
struct RefreshDriverRunTests {
    @Test(arguments: UInt64(1)...6)
    func `no exchange is lost and no position passes an open call, whatever group and producer do`(
        seed: UInt64
    ) throws {
        var plan = RunPlan(seed: seed)
        plan.crashes = 12
        plan.isCompacted = !seed.isMultiple(of: 3)
        var run = try DriverRun(plan)
        run.run()
        #expect(run.audit.breaches == [], "seed \(seed)")
        #expect(run.audit.calls.count > 500)
        #expect(RunAudit.keepsRate(run.audit.calls.map(\.at), callsPerSecond: plan.callsPerSecond), "seed \(seed)")
        #expect(run.audit.outcomes["verified"] ?? 0 > 0 && run.audit.outcomes["absent"] ?? 0 > 0)
        // Not every seed has a span of answers 429.
        let isThrottled = run.audit.outcomes["throttled"] ?? 0 > 0
        let rates = run.notices.map { if case .rateLowered = $0 { 1 } else if case .rateRestored = $0 { 2 } else { 0 } }
        #expect(rates.contains(1) == isThrottled && rates.contains(2) == isThrottled, "seed \(seed)")
    }

    @Test func `a few seeds together meet every outcome, breaker and rate`() throws {
        var (outcomes, notices): (Set<String>, Set<String>) = ([], [])
        for seed in UInt64(1)...8 {
            var run = try DriverRun(RunPlan(seed: seed))
            run.run()
            outcomes.formUnion(run.audit.outcomes.keys)
            notices.formUnion(run.notices.map { String("\($0)".prefix { $0 != "(" }) })
        }
        #expect(
            outcomes.isSuperset(of: [
                "verified", "absent", "throttled", "unavailable", "timed-out", "transport", "unauthorized",
                "invalid-answer",
            ])
        )
        #expect(
            notices.isSuperset(of: ["breakerOpened", "breakerClosed", "rateLowered", "rateRestored", "skipped"]),
            "\(notices)"
        )
    }

    @Test(arguments: UInt64(50)...53)
    func `after reloads no exchange is lost or made twice, and each call is of the team that speaks for it`(
        seed: UInt64
    ) throws {
        var plan = RunPlan(seed: seed)
        (plan.keys, plan.crashes, plan.reloads, plan.callsPerSecond) = (90, 2, 40, 0.2)
        var run = try DriverRun(plan)
        run.run()
        #expect(run.audit.breaches == [], "seed \(seed)")
        #expect(run.audit.calls.count > 500, "seed \(seed)")
    }

    @Test(arguments: UInt64(30)...32)
    func `with little memory a partition is read in parts, and every receipt is exchanged`(seed: UInt64) throws {
        var plan = RunPlan(seed: seed)
        (plan.keys, plan.callsPerSecond) = (90, 0.3)
        var wide = try DriverRun(plan)
        var narrow = try DriverRun(plan, mostReceipts: 36)
        wide.run()
        narrow.run()
        #expect(wide.audit.breaches == [], "seed \(seed)")
        #expect(narrow.audit.breaches == [], "seed \(seed)")
        #expect(narrow.pauses > wide.pauses)
    }

    @Test(arguments: UInt64(20)...23)
    func `an Apple without faults is called a known number of times`(seed: UInt64) throws {
        var plan = RunPlan(seed: seed)
        (plan.faults, plan.crashes, plan.rarity) = (0, 0, .max)
        var run = try DriverRun(plan)
        run.run()
        #expect(run.audit.breaches == [])
        // A chain has its first call, one every seven days, and the two that Apple has no data for: 35 and 30 + 28 days
        // after an attestation.
        let each = run.audit.calls.count / plan.keys
        #expect((6...11).contains(each), "\(run.audit.calls.count) calls of \(plan.keys) keys")
        #expect(run.driver.counts.skipped.isEmpty)
    }

    @Test(arguments: [0.02, 0.2, 50])
    func `a low rate makes exchanges late and a high one does not make them early`(rate: Double) throws {
        var plan = RunPlan(seed: 5)
        (plan.callsPerSecond, plan.keys) = (rate, 60)
        var run = try DriverRun(plan)
        run.run()
        #expect(run.audit.breaches == [])
        #expect(RunAudit.keepsRate(run.audit.calls.map(\.at), callsPerSecond: rate))
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

    @Test func `the same seed makes the same calls`() throws {
        var plan = RunPlan(seed: 77)
        plan.keys = 40
        var (one, two) = (try DriverRun(plan), try DriverRun(plan))
        one.run()
        two.run()
        #expect(one.audit.calls == two.audit.calls && !one.audit.calls.isEmpty)
    }
}
