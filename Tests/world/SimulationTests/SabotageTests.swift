import Foundation
import Member
import Pipeline
import SimulationKit
import Testing

#if DEBUG
    /// A planted bug, the campaign that shows it, and the first seed that did so.
    struct Planted: Sendable {
        enum Bug: Sendable, CustomStringConvertible {
            case member(MemberSabotage), loop(Sabotage)

            var description: String {
                switch self {
                case .member(let bug): bug.rawValue
                case .loop(let bug): "\(bug)"
                }
            }
        }

        let bug: Bug
        let campaign: PlantedCampaign
        let seed: UInt64
        /// A word of the complaint, which says the invariant.
        let shows: String

        func isShown(_ complaint: String) -> Bool { shows.isEmpty || complaint.contains(shows) }

        init(_ bug: MemberSabotage, _ campaign: PlantedCampaign, _ seed: UInt64, _ shows: String) {
            (self.bug, self.campaign, self.seed, self.shows) = (.member(bug), campaign, seed, shows)
        }

        init(_ bug: Sabotage, _ campaign: PlantedCampaign, _ seed: UInt64, _ shows: String) {
            (self.bug, self.campaign, self.seed, self.shows) = (.loop(bug), campaign, seed, shows)
        }
    }

    enum PlantedCampaign: Sendable {
        case exactlyOnce, atLeastOnce, commands, receipts, window
        /// In a window of counters, a ledger that an earlier export replaces.
        case replaced
        /// Tokens of workers whose clocks are set again and again.
        case clocks
        /// One worker on a broker that drops a transaction's offsets, and often does not answer a commit of them.
        case aside
        /// Static members that the group often fences for joining too late, whose transactions last.
        case fenced
        /// Ledgers are made again as they are restored, and the library often ignores a pause.
        case recreated
        /// Static members, and topics that get a partition more.
        case grown
        /// No faults but a process that dies inside a transaction.
        case orphaned

        func change(_ plan: inout SimulationPlan) {
            switch self {
            case .exactlyOnce, .atLeastOnce, .commands, .receipts, .window, .replaced: break
            case .clocks: plan.clocks = 0.02
            case .aside:
                (plan.commitsOffsetsAside, plan.workers, plan.mischief, plan.world) = (true, 1, 0, nil)
                plan.call = FaultChances()
                plan.call.client.offsetCommitUnanswered = 0.2
            case .fenced: (plan.isStatic, plan.call.client.fencedMember) = (true, 0.2)
            case .recreated: (plan.world, plan.call.client.pauseIgnored) = (.ledgerRecreated, 0.3)
            case .grown: (plan.isStatic, plan.world) = (true, .partitionsAdded)
            case .orphaned: SimulationPlan.orphaned(&plan)
            }
        }
    }

    /// A simulation that finds nothing proves nothing: planted bugs must not go by. Landing runs one seed for each;
    /// `SIM_SEEDS=n` searches all of them, n seeds and at least 400, and `SIM_BUG=name` only this one's.
    @Suite("Planted bugs")
    struct SabotageTests {
        private static let traffic = Result { try FleetTraffic(.imitated) }
        private static let receipts = Result { try FleetTraffic(.imitated, keepsReceipts: true) }
        private static let window = Result { try FleetTraffic(.imitated, window: 4) }
        private static let tokens = Result { try FleetTraffic(.imitated, tokens: 0.5) }
        private static let most = max(400, variable("SIM_SEEDS").flatMap { UInt64($0) } ?? 0)

        private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

        /// All, or the one that `SIM_BUG` names.
        private static let planted = Planted.all.filter { planted in
            variable("SIM_BUG").map { $0 == planted.bug.description } ?? true
        }

        private static func campaign(_ kind: PlantedCampaign) throws -> FleetCampaign {
            let delivery: SimulationPlan.Delivery = kind == .atLeastOnce ? .atLeastOnce : .exactlyOnce
            guard kind != .receipts else { return try .receipts(try receipts.get(), delivery: delivery) }
            let traffic = try (kind == .window || kind == .replaced ? window : kind == .clocks ? tokens : traffic).get()
            return try FleetCampaign(traffic, delivery: delivery, commands: kind == .commands ? 0.25 : 0)
        }

        private static func plant(_ bug: Planted.Bug, in plan: inout SimulationPlan) {
            switch bug {
            case .member(let bug): plan.memberSabotage = bug
            // The loop has a guard of its own.
            case .loop(.ledgerReadOn): (plan.sabotage, plan.memberSabotage) = (.ledgerReadOn, .ledgerReadOn)
            case .loop(let bug): plan.sabotage = bug
            }
        }

        private static func complaints(_ planted: Planted, _ campaign: FleetCampaign, _ seed: UInt64) throws -> [String]
        {
            let change = { (plan: inout SimulationPlan) in
                planted.campaign.change(&plan)
                plant(planted.bug, in: &plan)
            }
            let isReplaced = planted.campaign == .replaced
            let report =
                try isReplaced ? campaign.runReplaced(seed, change: change) : campaign.run(seed, change: change)
            return report.complaints
        }

        /// The first seed that complains of what the bug must show.
        private static func firstCatch(_ planted: Planted) throws -> UInt64? {
            let campaign = try campaign(planted.campaign)
            for seed in 1...most {
                let complaints = try complaints(planted, campaign, seed)
                guard let first = complaints.first else { continue }
                let complaint = complaints.first(where: planted.isShown)
                print("\(planted.bug) \(planted.campaign) \(seed): \((complaint ?? first).prefix(200))")
                if complaint != nil { return seed }
            }
            return nil
        }

        @Test func `every bug has a seed`() {
            let listed = Set(Planted.all.map(\.bug.description))
            #expect(MemberSabotage.allCases.allSatisfy { listed.contains($0.rawValue) })
            let others = SigningFailureTests.planted
            #expect(Sabotage.allCases.allSatisfy { listed.contains("\($0)") || others.contains($0) })
        }

        /// What a planted bug shows there is its own.
        @Test func `without a bug, offsets that are committed aside are found again`() throws {
            let campaign = try Self.campaign(.aside)
            for seed in 1...20 as ClosedRange<UInt64> {
                let complaints = try campaign.run(seed) { PlantedCampaign.aside.change(&$0) }.complaints
                #expect(complaints.isEmpty, "seed \(seed): \(complaints.prefix(3))")
            }
        }

        @Test(arguments: planted)
        func `the simulation catches a bug that is planted`(planted: Planted) throws {
            guard Self.variable("SIM_SEEDS") == nil else {
                let seed = try Self.firstCatch(planted)
                #expect(seed != nil, "\(planted.bug) went by for \(Self.most) seeds")
                return
            }
            let complaints = try Self.complaints(planted, Self.campaign(planted.campaign), planted.seed)
            #expect(complaints.contains(where: planted.isShown), "\(planted.bug): \(complaints.prefix(3))")
        }
    }
#endif
