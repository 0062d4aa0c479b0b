internal import DeviceLab
package import SimulationKit

/// The settings of one seed of the whole service.
package struct ServicePlan: Sendable {
    package var seed: UInt64
    package var gateways: Int
    package var devices: Int
    /// Workers and what Kafka does to them.
    package var fleet: SimulationPlan
    /// The share of steps in which the operator acts, and what may be done.
    package var acts = 0.05
    /// `challenges.ttl`.
    package var challengeSeconds = 300
    /// The number of partitions of the replies topic; nil = gateways read results and tokens.
    package var replies: Int32?
    /// The most milliseconds until a changed file has reached a machine.
    package var arrival: Int64 = 60_000
    /// The number of partitions of the topics to which the operator moves in the end; nil = it does not.
    package var movesTo: Int32?
    /// Whether a developer's build exchanges a debug token.
    package var isTested = false
    /// Whether the workers' signing keys are in tokens.
    package var holdsKeys = false
    /// `gateway.bundleHeader` is `require`.
    package var requiresBundle = false
    /// Whether calls and answers may be lost, and strangers replay recorded calls.
    package var losesCalls = true, replays = true
    package var procedures = Set(ServiceProcedure.allCases)

    package static func rough(seed: UInt64) -> ServicePlan {
        var random = SeededRandom(seed: seed &* 0xA24B_AED4_963E_E407)
        var fleet = SimulationPlan.rough(seed: seed)
        (fleet.workers, fleet.world) = (min(fleet.workers, 3), nil)
        fleet.stops = 0.002
        fleet.chaosSteps += fleet.chaosSteps / 2
        // The fleets' campaigns have slow links.
        fleet.call.client.bytesPerSecond = 0
        var plan = ServicePlan(
            seed: seed,
            gateways: 1 + Int(random.next() % 3),
            devices: 3 + Int(random.next() % 5),
            fleet: fleet
        )
        // A few kinds for each seed, so that they interact more often.
        let kinds = ServiceProcedure.allCases.shuffled(using: &random).prefix(3 + Int(random.next() % 4))
        plan.procedures = Set(kinds)
        plan.holdsKeys = plan.procedures.contains(.loseKeys)
        if random.next() % 2 == 0 { plan.procedures.insert(.wrongClock) }
        plan.requiresBundle = random.next() % 4 == 0
        plan.arrival = [10_000, 20_000, 60_000][Int(random.next() % 3)]
        // A key that goes on signing shows only once its revocation has reached each machine, and devices ask after that.
        if plan.procedures.contains(.revokeBesideMistake) { plan.arrival = 10_000 }
        plan.isTested = random.next() % 6 == 0
        if random.next() % 3 == 0 { plan.replies = 1 + Int32(random.next() % 3) }
        if random.next() % 5 == 0 { (plan.movesTo, plan.fleet.partitions) = (1 + Int32(random.next() % 5), 5) }
        plan.challengeSeconds = [60, 120, 300][Int(random.next() % 3)]
        return plan
    }
}
