internal import AppAttest
internal import Risk
internal import RiskKit
internal import Testing

@Suite("The driver over a simulated group, producer and Apple, under seeds")
struct RefreshDriverRunTests {
    @Test(arguments: UInt64(1)...6)
    func `no visit is lost and no position passes an open call, whatever group and producer do`(
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
        for outcome in ["verified", "absent", "timed-out", "invalid-answer"] {
            #expect(run.audit.outcomes[outcome] ?? 0 > 0, "seed \(seed): no \(outcome)")
        }
        #expect(run.notices.contains { if case .breakerOpened = $0 { true } else { false } })
        #expect(run.notices.contains { if case .breakerClosed = $0 { true } else { false } })
        // Not every seed has a span of answers 429.
        let isThrottled = run.audit.outcomes["throttled"] ?? 0 > 0
        let rates = run.notices.map { if case .rateLowered = $0 { 1 } else if case .rateRestored = $0 { 2 } else { 0 } }
        #expect(rates.contains(1) == isThrottled && rates.contains(2) == isThrottled, "seed \(seed)")
    }

    @Test(arguments: UInt64(50)...53)
    func `a reload loses no visit, makes none twice, and each call is of the team that speaks for it`(
        seed: UInt64
    ) throws {
        var plan = RunPlan(seed: seed)
        (plan.keys, plan.crashes, plan.reloads, plan.callsPerSecond) = (90, 2, 40, 0.2)
        var run = try DriverRun(plan)
        run.run()
        #expect(run.audit.breaches == [], "seed \(seed)")
        #expect(run.audit.calls.count > 500 && run.pauses >= plan.reloads, "seed \(seed)")
    }

    /// 9 pairs with 2,000 bytes each, and one receipt of 1,300 more.
    @Test(arguments: UInt64(30)...32)
    func `receipts in memory stay within their bound, and all are visited`(seed: UInt64) throws {
        var plan = RunPlan(seed: seed)
        (plan.keys, plan.callsPerSecond) = (90, 0.3)
        var wide = try DriverRun(plan, receiptBytes: 1_000)
        var narrow = try DriverRun(plan, receiptBytes: 1_000, mostHeldBytes: 18_000)
        wide.run()
        narrow.run()
        #expect(wide.audit.breaches == [], "seed \(seed)")
        #expect(narrow.audit.breaches == [], "seed \(seed)")
        let mostOver = 9 * 1_300
        #expect(narrow.mostHeldBytes <= 18_000 + mostOver, "seed \(seed): \(narrow.mostHeldBytes) bytes")
        #expect(wide.mostHeldBytes > 18_000 + mostOver, "the bound would not be felt")
        #expect(narrow.pauses > wide.pauses)
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
