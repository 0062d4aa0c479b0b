internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import Member
package import Pipeline
package import Streams
internal import TestKit

/// The settings of one seed: number of workers, assignment, rate of faults.
package struct SimulationPlan: Sendable {
    /// The two promises that a worker can make.
    package enum Delivery: Sendable, CaseIterable { case exactlyOnce, atLeastOnce }

    package var seed: UInt64
    package var workers: Int
    package var isStatic: Bool
    package var delivery = Delivery.exactlyOnce
    package var batchRecords: Int
    package var chaosSteps: Int
    package var call = FaultChances()
    /// Of one step: something happens to a process.
    package var mischief = 0.0
    package var limits = SimulatedBroker.Limits()
    package var refused: Set<RecordPlace> = []
    /// As with the embedded broker, which drops a transaction's offsets: they are committed once more.
    package var commitsOffsetsAside = false
    /// After so many moves of a process its certificates are renewed; 0 = never.
    package var movesToRenewal = 0
    /// The share of calm steps in which much time passes.
    package var quiet = 0.3
    /// Of one step: a process that is writing falls asleep, past its session.
    package var sleepInOutput = 0.0
    /// Whether a process dies inside a transaction, and another one joins, as the world becomes calm.
    package var endsInTransaction = false
    /// Of one step: a process's wall clock is set, mostly wrong. It is wrong at the start then, too.
    package var clocks = 0.0
    /// Of one step: a process is stopped in order, and started again, as in a rolling restart.
    package var stops = 0.0
    /// Whether others read the topics: see ``FleetReaders``.
    package var hasReaders = false
    /// What happens to all of a fleet; nil = nothing does.
    package var world: FaultKind?
    /// Whether workers keep copies of their ledgers.
    package var keepsCopies = false
    /// Whether workers follow the ledgers that would be theirs if another one were gone.
    package var follows = false
    /// Of the topics; nil = those of the requests that are given.
    package var partitions: Int32?

    /// One worker, one record at a time, no trouble: what everything else is compared with.
    package static func calm(delivery: Delivery = .exactlyOnce) -> SimulationPlan {
        SimulationPlan(seed: 1, workers: 1, isStatic: true, delivery: delivery, batchRecords: 1, chaosSteps: 0)
    }

    /// Nothing happens, until a process dies inside a transaction that the broker does not end soon.
    package static func orphaned(_ plan: inout SimulationPlan) {
        (plan.call, plan.mischief, plan.world, plan.quiet) = (FaultChances(), 0, nil, 0)
        (plan.limits.slowMarkers, plan.limits.transactionTimeout) = (0, 60_000)
        plan.workers = max(2, plan.workers)
        plan.endsInTransaction = true
    }

    /// Everything that may happen, as the seed says.
    package static func rough(seed: UInt64, delivery: Delivery = .exactlyOnce) -> SimulationPlan {
        var random = SeededRandom(seed: seed &* 0x9E37_79B9)
        var plan = SimulationPlan(
            seed: seed,
            workers: Int.random(in: 1...4, using: &random),
            isStatic: Bool.random(using: &random),
            delivery: delivery,
            batchRecords: Int.random(in: 1...8, using: &random),
            chaosSteps: Int.random(in: 300...1_050, using: &random)
        )
        let roughness = Double.random(in: 0.3...2, using: &random)
        plan.call.retriable = 0.02 * roughness
        plan.call.abortable = 0.02 * roughness
        plan.call.fatal = 0.002 * roughness
        plan.call.crash = 0.004 * roughness
        plan.call.produceFault = 0.05 * roughness
        plan.call.indefinite = 0.1 * roughness
        plan.call.hiddenRepeat = delivery == .exactlyOnce ? 0.1 * roughness : 0
        plan.call.client = .rough(roughness)
        plan.mischief = 0.004 * roughness
        plan.limits.slowMarkers = Double.random(in: 0...0.7, using: &random)
        // Without transactions nothing fences a process that sleeps in the middle of a flush.
        if delivery == .exactlyOnce {
            plan.call.slow = 0.02 * roughness
            plan.call.pause = 0.004 * roughness
        }
        plan.follows = seed % 4 > 1
        plan.keepsCopies = delivery == .exactlyOnce && seed % 3 != 0
        let world = random.below(16)
        if world < FaultKind.ofWorld.count { plan.world = FaultKind.ofWorld[world] }
        if random.chance(0.05) { plan.call.client.bytesPerSecond = Int64.random(in: 500...5_000, using: &random) }
        return plan
    }
}

/// Several workers, each a real loop on its own simulated lanes and streams, on one thread in an order that the seed
/// picks.
package final class SimulatedFleet {
    let plan: SimulationPlan
    package let broker: SimulatedBroker
    /// What lives beside the workers; nil = nothing does.
    package weak var company: (any FleetCompany)?
    let counts: FaultCounts
    let settings: PipelineSettings
    /// With another app before the one that all requests are for.
    let reloaded: PipelineSettings
    private let scratch: LaneScratch
    var random: SeededRandom
    var workers: [SimulatedWorker] = []
    /// The disks of the processes that have started, by their names.
    private var disks: [String: SimulatedDisk] = [:]
    /// What processes that have ended had counted, and how many of those did not end in order.
    var pastTally = LoopTally()
    var deaths = 0
    /// Processes that were stopped after a commit without an answer, before they learned its outcome.
    var doubtfulStops = 0
    /// nil = nobody but the fleet reads.
    private(set) lazy var readers = plan.hasReaders ? FleetReaders(self) : nil
    /// An operator keeps workers that have ended from starting again.
    private(set) var isClosed = false
    /// Processes that will be started again, and when.
    var restarts: [(name: String, at: Int64)] = []
    private var nextName = 1
    package internal(set) var isChaotic = false
    var hasMetWorld = false
    var worldCount = 0
    var depth = 0
    /// Nothing happens while much time passes.
    var isLeaping = false
    /// Ends of workers that no simulated fault explains.
    package internal(set) var breakdowns: [String] = []

    package init(
        _ plan: SimulationPlan,
        records: [InboundRecord],
        settings: PipelineSettings,
        scratch: LaneScratch,
        counts: FaultCounts = FaultCounts()
    ) {
        self.plan = plan
        self.settings = settings
        reloaded = Self.withOtherApp(settings)
        self.scratch = scratch
        self.counts = counts
        random = SeededRandom(seed: plan.seed)
        broker = SimulatedBroker(
            records: records,
            partitions: plan.partitions,
            seed: random.next(),
            limits: plan.limits,
            refused: plan.refused,
            counts: counts
        )
        // The processes begin once the newest request is here.
        broker.start = records.map(\.timestamp).max() ?? RequestRecords.time
        broker.tellsLedgerTimes = plan.seed % 8 != 0
    }

    /// The project and the ID of an app without requests.
    package static let otherApp = "other"

    private static func withOtherApp(_ settings: PipelineSettings) -> PipelineSettings {
        let other = RegisteredApp(
            projectNumber: otherApp,
            projectID: nil,
            appID: otherApp,
            expectations: Expectations(appIDs: [])
        )
        var next = settings
        // Names of its own cannot collide.
        if let registry = try? Registry(apps: [other] + settings.registry.apps) { next.registry = registry }
        return next
    }

    /// Runs until everything is drained and every partition has a settled owner.
    ///
    /// - Returns: false when that was not reached after `steps` calm steps.
    package func run(calmSteps steps: Int = 20_000) -> Bool {
        isChaotic = plan.chaosSteps > 0
        for _ in 0..<plan.workers { start(newName()) }
        for _ in 0..<plan.chaosSteps {
            step()
            if !breakdowns.isEmpty { return true }
        }
        calmDown()
        for _ in 0..<steps {
            if isSettled || !breakdowns.isEmpty { return true }
            step()
        }
        return false
    }

    private func calmDown() {
        isChaotic = false
        company?.calm()
        if plan.endsInTransaction, let victim = workers.first(where: leaveOpen) {
            remove(victim)
            deaths += 1
            start(newName())
        }
        broker.clockStep = 0
        broker.offerAll()
        for worker in workers {
            worker.pausedUntil = 0
            worker.clock.ahead = 0
            // No fault comes any more.
            worker.process.chances = .none
        }
        if !isClosed { startAll() }
    }

    private func startAll() {
        for restart in restarts { start(restart.name) }
        restarts = []
        // A worker that was replaced has no work any more, and ends when it finds that out.
        if workers.allSatisfy({ $0.isStopping || $0.isSignalled || $0.isReplaced }) { start(newName()) }
    }

    /// Everything is committed, no worker is busy, and each partition has one owner.
    private var isSettled: Bool {
        (company?.isSettled ?? true) && isQuiet
    }

    /// The same of the workers alone.
    package var isQuiet: Bool {
        guard broker.isDrained(but: held), workers.allSatisfy({ $0.isSettled }) else { return false }
        return workers.flatMap { $0.settled ?? [] }.sorted() == broker.partitions
    }

    /// Partitions that some worker holds.
    package var held: Set<Int32> { Set(holds.keys) }

    /// Why, by partition.
    package var holds: [Int32: String] {
        workers.reduce(into: [:]) { $0.merge($1.loop.held) { $1 } }
    }

    /// Every process has ended, and the group has noticed.
    package func stopAll(for milliseconds: Int64 = 180_000) {
        (workers, restarts) = ([], [])
        for _ in 0..<3 { broker.advance(by: milliseconds / 3) }
    }

    /// All workers are stopped in order, and start again once the fleet is opened. One that is in a call stops after it.
    package func close() {
        isClosed = true
        for worker in workers { worker.isSignalled = true }
    }

    package var isEmpty: Bool { workers.isEmpty }

    package func open() {
        isClosed = false
        if !isChaotic { startAll() }
    }

    /// Whether the processes that begin now, a command's among them, have faults.
    package func begin(chaotic isChaotic: Bool) { self.isChaotic = isChaotic }

    /// What all processes have counted.
    var tally: LoopTally { workers.reduce(into: pastTally) { $0.add($1.loop.tally) } }

    /// Requests that partitions' starts have counted as deleted, or left out, before they were read.
    package var skippedAtMost: Int64 { tally.skippedAtMost }

    func newName() -> String {
        defer { nextName += 1 }
        return "worker-\(nextName)"
    }

    func start(_ name: String) {
        let lanes = SimulatedLanes(scratch: scratch, seed: random.next())
        let process = process(name, of: broker, isStatic: plan.isStatic)
        process.later = { [unowned lanes] in lanes.later($0) }
        var settings = settings
        if let company {
            guard let own = company.settings(of: name) else { return restarts.append((name, broker.now + 1_000)) }
            settings = own
        }
        process.disk = plan.keepsCopies ? disk(of: name) : nil
        guard let streams = member(of: process) else { return }
        let clock = company?.clock(of: name) ?? SimulatedClock()
        if plan.clocks > 0, isChaotic { setClock(clock) }
        let loop = loop(streams, lanes, clock, settings, process.disk, notice(of: name))
        let worker = SimulatedWorker(process, streams, lanes, loop, clock)
        process.interlude = { [unowned self, weak worker] kind in
            if let worker { hold(worker, kind) }
        }
        workers.append(worker)
        counts.note("\(broker.now) \(name) starts")
    }

    /// A process of an old name finds its own disk, one of a new name another's or an empty one.
    private func disk(of name: String) -> SimulatedDisk {
        let seed = plan.seed &* 31 &+ UInt64(disks.count)
        let others = disks.keys.sorted()
        let moved = disks[name] == nil && seed % 3 == 0 ? others.first.flatMap { disks[$0]?.copied(seed: seed) } : nil
        let disk = disks[name] ?? moved ?? SimulatedDisk(seed: seed, counts: counts) { [broker] in broker.now }
        disk.isRough = isChaotic
        disk.wait()
        disks[name] = disk
        return disk
    }

    private func member(of process: SimulatedProcess) -> MemberStreams? {
        do { return try plan.member(of: process, partitions: broker.shownPartitions) } catch {
            guard process.isDead else {
                breakdowns.append("\(process.name) does not start: \(error)")
                return nil
            }
            deaths += 1
            restarts.append((process.name, broker.now + 1_000))
            return nil
        }
    }

    /// A process whose clients have faults while the world is rough.
    package func process(_ name: String, of broker: SimulatedBroker, isStatic: Bool = false) -> SimulatedProcess {
        let chances = isChaotic ? plan.call : .none
        let seed = random.next()
        let process = SimulatedProcess(name: name, isStatic: isStatic, broker: broker, seed: seed, chances: chances)
        if company != nil { process.slowPaces = SimulatedProcess.often }
        return process
    }

    /// A loss is reported once.
    private func notice(of name: String) -> @Sendable (any SourceFault) -> Void {
        let reported = Reported(company)
        return { [broker] fault in
            reported.company?.told(fault, by: name)
            guard let notice = fault as? PartitionNotice, !notice.isHeld,
                !reported.sentences.insert("\(notice)").inserted
            else { return }
            broker.violations.append("reports it again: \(notice)")
        }
    }

    /// Confined to the test's thread.
    private final class Reported: @unchecked Sendable {
        weak var company: (any FleetCompany)?
        var sentences: Set<String> = []

        init(_ company: (any FleetCompany)?) { self.company = company }
    }

    /// Without brokers' times of what is written a worker cannot tell a clock that is ahead by more than it tolerates.
    func setClock(_ clock: SimulatedClock) {
        let far: [Int64] = broker.tellsLedgerTimes ? [90_000, 3_600_000] : []
        clock.ahead = ([0, 0, 8_000, 45_000, -100_000, -400_000] + far).randomElement(using: &random) ?? 0
    }

    private func loop(
        _ member: MemberStreams,
        _ lanes: SimulatedLanes,
        _ clock: SimulatedClock,
        _ settings: PipelineSettings,
        _ disk: SimulatedDisk?,
        _ notice: @escaping @Sendable (any SourceFault) -> Void
    ) -> BatchLoop {
        var options = BatchLoop.Options()
        options.snapshots = disk
        options.batch.records = plan.batchRecords
        // Workers of one fleet differ; most begin batches behind any other.
        options.smallBatch = [0, 0, 4, .max][nextName % 4]
        return lanes.loop(
            StreamRoles(source: member, transaction: OrderedTransaction(member), hasLedgers: true),
            settings,
            options,
            wallClock: { [broker] in EvaluationTime(milliseconds: broker.time + broker.clockStep + clock.ahead) },
            uptime: { [broker] in broker.now },
            notice: notice
        )
    }
}
