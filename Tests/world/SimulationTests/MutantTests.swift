import Foundation
import RiskKit
import ServiceKit
import SimulationKit
import Testing

/// Where the simulation looks for a planted bug, and once found one of its own.
enum MutantCampaign: String, Sendable {
    case exactlyOnce, atLeastOnce, commands, commandsAtLeastOnce, receipts, receiptsAtLeastOnce, window
    /// Keys end.
    case ends, endsAtLeastOnce
    /// In a window of counters, a ledger that an earlier export replaces.
    case replaced
    /// Tokens of workers whose clocks are set again and again.
    case clocks
    /// Their workers are stopped and started again, too, and have many small batches.
    case restarted
    /// One worker on a broker that drops a transaction's offsets, and often does not answer a commit of them.
    case aside
    /// Static members that the group often fences for joining too late, whose transactions last.
    case fenced
    /// Ledgers are made again as they are restored, and the library often ignores a pause.
    case recreated
    /// Static members, and topics that get a partition more.
    case grown
    /// Others read the topics.
    case readers
    /// No faults but a process that dies inside a transaction.
    case orphaned
    /// Refreshers instead of workers; and static ones that their groups often fence for joining too late, and whose
    /// libraries' threads often lose their cores.
    case refreshers, fencedRefreshers
    /// The whole service: gateways, stock clients, backends, an operator, clocks.
    case service

    private func change(_ plan: inout SimulationPlan) {
        switch self {
        case .exactlyOnce, .atLeastOnce, .commands, .commandsAtLeastOnce, .receipts, .receiptsAtLeastOnce: break
        case .window, .replaced, .ends, .endsAtLeastOnce, .refreshers, .fencedRefreshers, .service: break
        // Not the brokers' clocks.
        case .clocks: (plan.clocks, plan.world) = (0.02, plan.world == .clockStep ? nil : plan.world)
        case .restarted:
            (plan.clocks, plan.stops, plan.batchRecords) = (0.05, 0.01, 1 + plan.batchRecords % 3)
            if plan.world == .clockStep { plan.world = nil }
        case .aside:
            (plan.commitsOffsetsAside, plan.workers, plan.mischief, plan.world) = (true, 1, 0, nil)
            plan.call = FaultChances()
            plan.call.client.offsetCommitUnanswered = 0.2
        case .fenced: (plan.isStatic, plan.call.client.fencedMember) = (true, 0.2)
        case .recreated: (plan.world, plan.call.client.pauseIgnored) = (.ledgerRecreated, 0.3)
        case .grown: (plan.isStatic, plan.world) = (true, .partitionsAdded)
        case .readers: plan.hasReaders = true
        case .orphaned: SimulationPlan.orphaned(&plan)
        }
    }

    private func fleets() throws -> FleetCampaign {
        let isLoose = [.atLeastOnce, .commandsAtLeastOnce, .receiptsAtLeastOnce, .endsAtLeastOnce].contains(self)
        let delivery: SimulationPlan.Delivery = isLoose ? .atLeastOnce : .exactlyOnce
        if self == .receipts || self == .receiptsAtLeastOnce {
            return try .receipts(FleetTraffic(.imitated, keepsReceipts: true), delivery: delivery)
        }
        let hasCommands = self == .commands || self == .commandsAtLeastOnce
        let hasWindow = self == .window || self == .replaced
        let traffic = try FleetTraffic(
            .imitated,
            window: hasWindow ? 4 : 0,
            tokens: self == .clocks || self == .restarted ? 0.5 : 0,
            ends: self == .ends || self == .endsAtLeastOnce
        )
        return try FleetCampaign(traffic, delivery: delivery, commands: hasCommands ? 0.25 : 0)
    }

    /// The complaints of each seed, from the first on.
    ///
    /// - Parameter bug: planted in a copy of the tree, from now on in this process.
    func complaints(_ seeds: ClosedRange<UInt64>, with bug: String? = nil, _ take: (UInt64, [String]) -> Bool) throws {
        if self == .refreshers || self == .fencedRefreshers { return try refreshers(seeds, with: bug, take) }
        if self == .service { return try services(seeds, with: bug, take) }
        let fleets = try fleets()
        // Not in the calm run that the fleet is compared with: the plan is changed after it.
        let plant = { (plan: inout SimulationPlan) in
            change(&plan)
            if let bug { unsafe setenv("MUTANT", bug, 1) }
        }
        for seed in seeds {
            defer { if bug != nil { unsafe unsetenv("MUTANT") } }
            let report =
                try self == .replaced ? fleets.runReplaced(seed, change: plant) : fleets.run(seed, change: plant)
            if !take(seed, report.complaints) { return }
        }
    }
}

extension MutantCampaign {
    private func services(_ seeds: ClosedRange<UInt64>, with bug: String?, _ take: (UInt64, [String]) -> Bool) throws {
        let shared = try ServiceWorld.Shared()
        if let bug { unsafe setenv("MUTANT", bug, 1) }
        defer { if bug != nil { unsafe unsetenv("MUTANT") } }
        for seed in seeds {
            if try !take(seed, ServiceWorld(.rough(seed: seed), shared).run()) { return }
        }
    }

    private func refreshers(
        _ seeds: ClosedRange<UInt64>,
        with bug: String?,
        _ take: (UInt64, [String]) -> Bool
    ) throws {
        if let bug { unsafe setenv("MUTANT", bug, 1) }
        defer { if bug != nil { unsafe unsetenv("MUTANT") } }
        for seed in seeds {
            var plan = RefreshFleet.Plan.rough(seed: seed)
            if self == .fencedRefreshers {
                (plan.isStatic, plan.call.client.fencedMember, plan.call.client.preempted) = (true, 0.2, 0.5)
            }
            if try !take(seed, RefreshFleet(plan).run()) { return }
        }
    }
}

/// A simulation that finds nothing proves nothing. `.ci/mutants` plants bugs in a copy of the tree and runs this there,
/// a process for each: `MUTANT_NAME` names the bug, the head of its patch the campaign and a word of the complaint.
@Suite("A planted bug")
struct MutantTests {
    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
    private static let isPlanted = variable("MUTANT_CAMPAIGN") != nil

    @Test(.enabled(if: isPlanted)) func `the simulation catches it within 800 seeds`() throws {
        let campaign = try #require(Self.variable("MUTANT_CAMPAIGN").flatMap(MutantCampaign.init))
        let word = Self.variable("MUTANT_SHOWS") ?? ""
        var caught: UInt64?
        try campaign.complaints(1...800, with: Self.variable("MUTANT_NAME")) { seed, complaints in
            guard let complaint = complaints.first(where: { $0.contains(word) }) else { return true }
            print("caught by seed \(seed) of \(campaign): \(complaint.prefix(200))")
            caught = seed
            return false
        }
        #expect(caught != nil, "no seed complains of '\(word)'")
    }

    /// What a planted bug shows there is its own.
    @Test(arguments: isPlanted ? campaigns : [.aside])
    func `without a bug no seed complains`(campaign: MutantCampaign) throws {
        try campaign.complaints(1...20) { seed, complaints in
            #expect(complaints.isEmpty, "seed \(seed) of \(campaign): \(complaints.prefix(3))")
            return true
        }
    }

    private static let campaigns = variable("MUTANT_CAMPAIGN").flatMap(MutantCampaign.init).map { [$0] } ?? []
}
