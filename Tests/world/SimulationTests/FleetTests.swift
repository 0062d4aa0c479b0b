import DeviceLab
import Foundation
import Pipeline
import SimulationKit
import Streams
import Testing

/// Several real loops on one simulated Kafka, thousands of times over. `SIM_SEED=n` runs one seed and prints what
/// happened; `SIM_SEEDS=n` runs n seeds of the main campaign and as many of the others as stand in ``seeds(_:per:)`` for
/// 1,000 of them, and `SIM_FIRST=n` begins at n instead of 1.
@Suite("A fleet under a seed")
struct FleetTests {
    private static let real = Result { try FleetTraffic(.real) }
    private static let receipts = Result { try FleetTraffic(.imitated, keepsReceipts: true) }
    private static let tokens = Result { try FleetTraffic(.imitated, tokens: 0.5) }
    private static let windows = Result { try FleetTraffic(.imitated, window: 4) }
    private static let ends = Result { try FleetTraffic(.imitated, ends: true) }
    private static let shards: UInt64 = 4

    /// A correct member always answers its group; a former leader's answers, and bytes damaged on disk, hold partitions.
    private static let never: Set<FaultKind> = [
        .revokeHidden, .staleLeader, .damagedOnDisk, .restoredFurther, .renewed,
        // Rare: the worker waits for the library's thread. ClientStepsTests has it.
        .stepOvertaken,
    ]
    /// None asks for a former leader's ends, and none leaves an assignment unanswered behind which a revocation waits.
    private static let impossible: Set<FaultKind> = [.revokeHidden, .staleLeader]
    private static let onlyAtLeastOnce: Set<FaultKind> = [
        .halfFlushed, .appliedSkipped, .offsetCommitUnanswered, .startDelayed,
    ]
    /// Those of transactions, and of calls that wait: without transactions nothing fences a process that sleeps in one.
    private static let onlyExactlyOnce: Set<FaultKind> = [
        .indefiniteCommitted, .indefiniteLost, .indefiniteDelayed, .fencedProducer, .transactionTimeout,
        .unstableOffsets, .leftOpen, .orphanAborted, .slowMarkers, .concurrentTransactions, .slowCall, .pauseInCall,
        .restoreWaited,
        .hiddenRepeat, .lateRefused, .polledInCommit, .revokedInCommit, .lostInCommit, .faultInCommit,
        .abortable, .fencedGeneration, .ackWithoutOffset, .offsetsUnanswered, .initUnanswered, .initArrivedLate,
        .lostBeforeEvent,
        .snapshotWritten, .snapshotUsed, .snapshotRefused, .snapshotFlipped, .snapshotTorn, .snapshotOld,
        .snapshotSwapped,
    ]

    static var oneSeed: UInt64? { number("SIM_SEED") }
    static var first: UInt64 { number("SIM_FIRST") ?? 1 }

    private static func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) }
    }

    /// How many seeds a campaign runs: few in the landing; with `SIM_SEEDS` as many as `many` for every 1,000, but at
    /// least one a shard.
    static func seeds(_ few: UInt64, per many: UInt64) -> UInt64 {
        number("SIM_SEEDS").map { max(shards, many * $0 / 1_000) } ?? few
    }

    /// So many seeds, from `SIM_FIRST` on.
    private static func range(_ count: UInt64) -> ClosedRange<UInt64> { first...(first + count - 1) }

    @Test func `exactly once: every request has one answer, the calm run's, and the ledger is what they say`()
        async throws
    {
        try await campaign(
            try FleetTraffic.imitated.get(),
            .exactlyOnce,
            Self.seeds(500, per: 1_000),
            Self.onlyAtLeastOnce.union(Self.never),
            least: 5
        )
    }

    @Test func `exactly once, with real signatures`() async throws {
        try await campaign(try Self.real.get(), .exactlyOnce, 24, nil)
    }

    @Test func `at least once: no request is lost, no counter moves twice, applied requests are skipped`() async throws
    {
        try await campaign(
            try FleetTraffic.imitated.get(),
            .atLeastOnce,
            Self.seeds(300, per: 300),
            Self.onlyExactlyOnce.union(Self.never)
        )
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func `bans and forgotten keys among the requests are as the calm run has them`(
        delivery: SimulationPlan.Delivery
    ) async throws {
        let seeds = delivery == .exactlyOnce ? Self.seeds(100, per: 400) : Self.seeds(40, per: 120)
        try await campaign(try FleetTraffic.imitated.get(), delivery, seeds, nil, commands: 0.25)
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func `receipts, forgotten keys and attestations in any order leave each key its newest metric and receipt`(
        delivery: SimulationPlan.Delivery
    ) async throws {
        let seeds = delivery == .exactlyOnce ? Self.seeds(24, per: 48) : Self.seeds(12, per: 24)
        let traffic = try Self.receipts.get()
        try await campaign(delivery, seeds, nil) { try .receipts(traffic, delivery: delivery) }
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func `in a window of counters each one is accepted once, whoever reads the ledger`(
        delivery: SimulationPlan.Delivery
    ) async throws {
        let seeds = delivery == .exactlyOnce ? Self.seeds(48, per: 200) : Self.seeds(24, per: 100)
        try await campaign(try Self.windows.get(), delivery, seeds, nil, commands: 0.05)
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func `keys that end are unknown to the same requests as in a calm run, and none in use is forgotten`(
        delivery: SimulationPlan.Delivery
    ) async throws {
        let seeds = delivery == .exactlyOnce ? Self.seeds(48, per: 200) : Self.seeds(24, per: 100)
        try await campaign(try Self.ends.get(), delivery, seeds, nil)
    }

    @Test func `keys among the requests end, and attest again`() throws {
        var (ended, again) = (0, 0)
        try Self.meet(Self.ends.get(), 32) { run, _ in
            let results = run.outputs.filter { $0.stream == .results }
            for ofKey in Dictionary(grouping: results, by: \.key).values {
                let answers = try ofKey.map { try ReadResult($0).summary }
                let known = answers.drop { $0 != "accepted" }
                let unknown = known.drop { $0 != "unknown-key" }
                if !unknown.isEmpty { ended += 1 }
                if unknown.contains("accepted") { again += 1 }
            }
        }
        #expect(ended > 30 && again > 10, "\(ended), \(again)")
    }

    @Test func `a ledger that an earlier export replaces opens nothing that was used before`() throws {
        let campaign = try FleetCampaign(try Self.windows.get())
        let seeds = Self.seeds(48, per: 200)
        try Self.expectClean(Self.range(seeds)) { try campaign.runReplaced($0) }
        #expect(campaign.acceptedAfterReplacement > 4 * Int(seeds))
    }

    @Test func `the assertions among the requests overtake each other within the window and beyond it`() throws {
        var (behind, refused) = (0, 0)
        try Self.meet(Self.windows.get(), 22) { _, results in
            for result in results {
                if result.summary == "counter-not-greater" { refused += 1 }
                guard result.summary == "accepted", let counter = result.counter, let before = result.previousCounter
                else { continue }
                if counter > 0, counter < before { behind += 1 }
            }
        }
        #expect(behind > 20 && refused > 20)
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func `clients that are made anew again and again, as certificates are renewed, change no answer`(
        delivery: SimulationPlan.Delivery
    ) throws {
        let campaign = try FleetCampaign(try FleetTraffic.imitated.get(), delivery: delivery)
        let seeds = Self.seeds(20, per: 80)
        try Self.expectClean(Self.range(seeds)) { try campaign.run($0) { $0.movesToRenewal = 40 } }
        #expect(campaign.counts.counts[.renewed] ?? 0 > seeds)
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func `a gateway gets each result once, commands overwrite nothing unread, and requeue each letter once`(
        delivery: SimulationPlan.Delivery
    ) throws {
        let campaign = try FleetCampaign(try FleetTraffic.imitated.get(), delivery: delivery)
        let seeds = Self.seeds(40, per: 200)
        try Self.expectClean(Self.range(seeds)) { try campaign.run($0) { $0.hasReaders = true } }
        let done = campaign.done
        #expect(done[.scan] ?? 0 > seeds && done[.rewrite] ?? 0 > seeds / 4)
        #expect(done[.requeue] ?? 0 > seeds && done[.letter] ?? 0 > 4 * seeds)
        #expect(campaign.counts.counts[.renewed] ?? 0 > seeds)
    }

    /// Its own partitions wait for their heir, which ends the transaction; the heir's others go on.
    @Test func `a process that dies inside a transaction holds back its own partitions for a moment, and no other`()
        throws
    {
        let campaign = try FleetCampaign(try FleetTraffic.imitated.get())
        let seeds = Self.seeds(30, per: 100)
        try Self.expectClean(Self.range(seeds)) { try campaign.run($0, change: SimulationPlan.orphaned) }
        for kind in [FaultKind.leftOpen, .orphanAborted] { #expect(campaign.counts.counts[kind] ?? 0 > seeds / 3) }
    }

    /// Writers that sleep past their session are fenced by their heirs, and come back.
    @Test func `a living process rides out that its heirs have ended its transaction`() throws {
        let campaign = try FleetCampaign(try FleetTraffic.imitated.get())
        try Self.expectClean(Self.range(Self.seeds(30, per: 100))) { seed in
            try campaign.run(seed) {
                SimulationPlan.orphaned(&$0)
                ($0.endsInTransaction, $0.sleepInOutput, $0.workers, $0.chaosSteps) = (false, 0.05, 3, 2_000)
            }
        }
        #expect(campaign.counts.counts[.orphanAborted] ?? 0 > 0)
    }

    @Test(arguments: [SimulationPlan.Delivery.exactlyOnce, .atLeastOnce])
    func
        `no token begins later than the brokers' time, however workers' clocks are set, and all go on once they are right`(
            delivery: SimulationPlan.Delivery
        ) throws
    {
        let campaign = try FleetCampaign(try Self.tokens.get(), delivery: delivery)
        // 977 is the one of a process that read, slept for minutes, and then minted by its own clock; 243312407 that
        // of one that was behind, and took the older of two partitions' records for a sign that it was right.
        try Self.expectClean(Array(Self.range(Self.seeds(60, per: 200))) + [977, 243_312_407]) { seed in
            try campaign.run(seed) { plan in
                // One by one.
                (plan.clocks, plan.world) = (0.02, plan.world == .clockStep ? nil : plan.world)
            }
        }
    }

    @Test func `the receipts among the requests meet every state`() throws {
        var reasons: [String: Int] = [:]
        var (tombstones, kept) = (0, 0)
        try Self.meet(Self.receipts.get(), 32, commands: 0.15) { run, results in
            for output in run.outputs where output.stream == .receipts {
                if output.value == nil { tombstones += 1 } else { kept += 1 }
            }
            for result in results { reasons[Self.reason(result), default: 0] += 1 }
        }
        for expected in [
            "accepted", "accepted (duplicate)", "receipt:superseded", "receipt:metric", "unknown-key", "banned",
        ] { #expect(reasons["verifyReceipt \(expected)"] ?? 0 > 0, "\(expected)") }
        for expected in ["forget accepted", "verifyAttestation accepted", "verifyAttestation challenge-consumed"] {
            #expect(reasons[expected] ?? 0 > 0, "\(expected)")
        }
        #expect(tombstones > 0 && kept > 0)
    }

    @Test func `the commands among the requests meet every state`() throws {
        var reasons: [String: Int] = [:]
        var ended = 0
        try Self.meet(FleetTraffic.imitated.get(), 22, commands: 0.25) { run, results in
            for result in results {
                reasons[Self.reason(result), default: 0] += 1
                if result.path.hasPrefix("v1/operator") { reasons["command \(result.summary)", default: 0] += 1 }
            }
            for ledger in run.ledgers.values { ended += ledger.bans.values.count { !$0.counts(at: ledger.streamTime) } }
        }
        for expected in [
            "ban accepted", "unban accepted", "forget accepted",
            "command challenge-consumed",
            "verifyAssertion banned", "verifyAttestation banned", "verifyAssertion unknown-key",
        ] { #expect(reasons[expected] ?? 0 > 0, "\(expected)") }
        #expect(ended > 0, "some bans end")
    }

    /// Verb and summary.
    private static func reason(_ result: ReadResult) -> String {
        "\(result.path.split(separator: ":").last ?? "") \(result.summary)"
    }

    /// One loop over each stream of requests.
    private static func meet(
        _ traffic: FleetTraffic,
        _ count: Int,
        commands: Double = 0,
        _ see: (LoopRun, [ReadResult]) throws -> Void
    ) throws {
        for seed in 1_000..<1_024 as Range<UInt64> {
            let records = try traffic.records(count, partitions: 2, seed: seed, commands: commands)
            let run = try LoopRun(records, settings: traffic.settings, ca: traffic.ca, engine: OracleEngine())
            try see(run, run.outputs.filter { $0.stream == .results }.map { try ReadResult($0) })
        }
    }

    private static func expectClean(
        _ seeds: some Sequence<UInt64>,
        _ run: (UInt64) throws -> FleetCampaign.Report
    ) throws {
        for seed in seeds {
            let complaints = try run(seed).complaints
            #expect(complaints.isEmpty, "seed \(seed): \(complaints.prefix(5))")
        }
    }

    /// Runs seeds on a few threads and expects that they met everything but `unmet`, `least` times; nil = whatever they
    /// met.
    private func campaign(
        _ traffic: FleetTraffic,
        _ delivery: SimulationPlan.Delivery,
        _ seeds: UInt64,
        _ unmet: Set<FaultKind>?,
        least: Int = 1,
        commands: Double = 0
    ) async throws {
        try await campaign(delivery, seeds, unmet, least: least) {
            try FleetCampaign(traffic, delivery: delivery, commands: commands)
        }
    }

    private func campaign(
        _ delivery: SimulationPlan.Delivery,
        _ seeds: UInt64,
        _ unmet: Set<FaultKind>?,
        least: Int = 1,
        _ make: @escaping @Sendable () throws -> FleetCampaign
    ) async throws {
        if let seed = Self.oneSeed { return try Self.replay(seed, make()) }
        let first = Self.first
        let counts = FaultCounts()
        try await withThrowingTaskGroup(of: [FaultKind: Int].self) { group in
            for shard in 0..<Self.shards {
                group.addTask {
                    let campaign = try make()
                    for seed in stride(from: first + shard, to: first + seeds, by: Int(Self.shards)) {
                        let complaints = try campaign.run(seed).complaints
                        guard !complaints.isEmpty else { continue }
                        let again = "SIM_SEED=\(seed) swift test --filter SimulationTests.FleetTests"
                        Issue.record("seed \(seed): \(complaints.prefix(5).joined(separator: "; ")); again: \(again)")
                    }
                    return campaign.counts.counts
                }
            }
            for try await met in group { counts.add(met) }
        }
        let summary = FaultKind.allCases.map { "\($0.rawValue) \(counts.counts[$0] ?? 0)" }.joined(separator: ", ")
        print("\(delivery): \(seeds) seeds from \(first); \(summary)")
        for kind in Self.impossible { #expect(counts.counts[kind] == nil, "\(kind.rawValue) was met") }
        // Fewer seeds than usual need not meet every fault.
        guard let unmet, Self.number("SIM_SEEDS").map({ $0 >= 1_000 }) ?? true else { return }
        for kind in FaultKind.allCases where !unmet.contains(kind) {
            let count = counts.counts[kind] ?? 0
            #expect(count >= least, "\(kind.rawValue) was met \(count) times")
        }
    }

    private static func replay(_ seed: UInt64, _ campaign: FleetCampaign) throws {
        campaign.counts.trace = []
        let report = try campaign.run(seed)
        print((campaign.counts.trace ?? []).joined(separator: "\n"))
        #expect(report.complaints.isEmpty, "\(report.complaints.joined(separator: "\n"))")
    }

    @Test(arguments: [3, 17, 42] as [UInt64])
    func `a seed replays exactly: the same faults in the same order`(seed: UInt64) throws {
        func trace() throws -> [String]? {
            let campaign = try FleetCampaign(try FleetTraffic.imitated.get())
            campaign.counts.trace = []
            _ = try campaign.run(seed)
            return campaign.counts.trace
        }
        let first = try trace()
        #expect(first?.isEmpty == false)
        #expect(try trace() == first)
    }

    @Test func `the check complains about a missing, changed or duplicate answer`() throws {
        let traffic = try FleetTraffic.imitated.get()
        let records = try traffic.records(12, partitions: 1, seed: 5)
        func drained(_ records: [InboundRecord]) throws -> SimulatedFleet {
            let scratch = try traffic.scratch()
            let fleet = SimulatedFleet(.calm(), records: records, settings: traffic.settings, scratch: scratch)
            #expect(fleet.run())
            return fleet
        }
        let calm = try FleetReading(try drained(records).broker)
        #expect(try FleetCheck(try drained(records), calm: calm).complaints.isEmpty)
        #expect(try !FleetCheck(try drained(Array(records.dropLast())), calm: calm).complaints.isEmpty)
        let fleet = try drained(records)
        let output = try #require(fleet.broker.visible(.results)[0]?.first)
        try fleet.broker.produce("somebody", epoch: nil, output)
        let complaints = try FleetCheck(fleet, calm: calm).complaints
        #expect(complaints.contains { $0.hasSuffix("was answered twice") })
    }
}
