internal import DeviceLab
internal import Risk
internal import RiskKit
internal import Testing

/// The lab's double of Apple's exchange with its whole menu of faults, before the real answers, judgement and driver.
@Suite("Every fault of Apple's, under seeds")
struct AppleMenuTests {
    private static func run(_ plan: AppleMenuRun.Plan) throws -> AppleMenuRun {
        var run = try AppleMenuRun(plan)
        run.run()
        return run
    }

    /// How a call ends, by the name of the fault.
    private static let outcomes: [String: String] = [
        "not-modified": "early", "incorrect-environment": "incorrect-environment", "bad-payload": "bad-payload",
        "token-expired": "unauthorized", "token-other-team": "unauthorized", "token-unknown-key": "unauthorized",
        "not-found": "absent", "throttled": "throttled", "throttled-retry-after": "throttled",
        "server-error": "unavailable", "unavailable": "unavailable", "redirect": "unexpected",
        "accepted": "unexpected", "white-space": "verified", "dripping": "verified", "cut": "transport",
    ]

    @Test(arguments: DeviceLab.AppleFault.allCases.map(\.name))
    func `an answer with one fault has its outcome, and the exchanges go on to the end`(name: String) throws {
        let fault = try #require(DeviceLab.AppleFault.named(name))
        var plan = AppleMenuRun.Plan(seed: 3)
        (plan.keys, plan.share, plan.faults) = (2, 0.5, [fault])
        let run = try Self.run(plan)
        #expect(run.breaches == [])
        #expect(run.outcomes[name]?.keys.sorted() == [Self.outcomes[name] ?? "invalid-answer"])
        #expect(run.accepted > 0 && run.outcomes["none"]?["verified"] ?? 0 > 0)
    }

    @Test(arguments: UInt64(1)...4)
    func `of the whole menu nothing wrong is accepted, no exchange is lost, and few calls are open`(
        seed: UInt64
    ) throws {
        var plan = AppleMenuRun.Plan(seed: seed)
        (plan.keys, plan.share) = (12, 0.6)
        let run = try Self.run(plan)
        #expect(run.breaches == [], "seed \(seed)")
        #expect(run.accepted > plan.keys && run.mostOpen <= CallBucket.mostInFlight)
        #expect(run.outcomes.count > 15, "seed \(seed): \(run.outcomes.keys.sorted())")
        for (name, outcomes) in run.outcomes where name != "none" {
            #expect(outcomes.keys.sorted() == [Self.outcomes[name] ?? "invalid-answer"], "\(name)")
        }
    }

    @Test func `a run notices a refresher and a worker that take any receipt`() throws {
        var plan = AppleMenuRun.Plan(seed: 1)
        (plan.keys, plan.share, plan.isCredulous) = (24, 0.6, true)
        let breaches = Set(try Self.run(plan).breaches)
        for name in [
            "foreign-root", "leaf-of-other-key", "other-token", "attest", "older-receipt", "no-metric", "long-metric",
        ] {
            #expect(breaches.contains("the refresher takes \(name) for Apple's answer"), "\(name)")
            #expect(breaches.contains("the worker accepts what \(name) brought"), "\(name)")
        }
    }
}
