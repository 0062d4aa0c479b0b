internal import AppAttest
internal import Crypto
internal import DeviceLab
package import Gateway
internal import Kafka
internal import KafkaPorts
internal import Refresher
internal import Risk
package import SimulationKit
internal import Telemetry

/// Several refreshers on the simulated Kafka: the product's loops, groups and drivers under the workers' faults and
/// seeds. Each line's group has its broker, whose requests are the receipts; all of them have one clock. Apple, and the
/// workers who write receipts, are the books.
package final class RefreshFleet {
    package struct Plan: Sendable {
        package var seed: UInt64
        package var refreshers: Int
        package var isStatic: Bool
        package var partitions: Int
        package var chaosSteps: Int
        package var call = FaultChances()
        /// Of one step: something happens to a process.
        package var mischief = 0.0
        /// Of Apple's answers.
        package var appleFaults = 0.0
        /// Milliseconds in which Apple answers nothing but one fault, of those in ``RefreshBooks/faults``.
        package var outage: Range<Int64> = 0..<0
        package var outageFault = 0
        /// Of receipts: the broker's disk has damaged them.
        package var damaged = 0.0
        package var mostReceipts = 8_192
        package var callsPerSecond = 20.0

        /// One refresher, and nothing happens.
        package static func calm(seed: UInt64) -> Plan {
            Plan(seed: seed, refreshers: 1, isStatic: true, partitions: 2, chaosSteps: 0)
        }

        /// Everything that may happen, as the seed says.
        package static func rough(seed: UInt64) -> Plan {
            var random = SeededRandom(seed: seed ^ 0x5EED)
            let fleet = SimulationPlan.rough(seed: seed)
            var plan = Plan(
                seed: seed,
                refreshers: Int.random(in: 1...3, using: &random),
                isStatic: fleet.isStatic,
                partitions: Int.random(in: 1...3, using: &random),
                chaosSteps: Int.random(in: 300...1_000, using: &random)
            )
            (plan.call, plan.mischief) = (fleet.call, 0.01)
            // A refresher makes many more calls a step than a worker, and the library resets an offset that is gone.
            (plan.call.crash, plan.call.client.offsetGone) = (plan.call.crash / 5, 0)
            plan.appleFaults = Double.random(in: 0...0.2, using: &random)
            if random.next() % 3 == 0 {
                let begin = Int64.random(in: 0..<30_000, using: &random)
                plan.outage = begin..<(begin + Int64.random(in: 30_000...1_800_000, using: &random))
                // After answers that are not understood only a verified receipt closes a breaker: here none comes any more.
                plan.outageFault = [0, 1, 3, 4, 5][Int(random.next() % 5)]
            }
            if random.next() % 4 == 0 { plan.damaged = 0.05 }
            if random.next() % 3 == 0 { plan.mostReceipts = 1 }
            return plan
        }
    }

    /// A process: a member of three groups.
    final class Refresher {
        let name: String
        /// Of this start of it.
        let id: Int
        let members: [SimulatedProcess]
        let loop: RefreshLoop
        let inbox: RefreshInbox
        let outlet: Outlet
        var pausedUntil: Int64 = 0
        var isBusy = false
        var stopsUntil: Int64?
        /// Moves, and since when, each group has waited for an answer.
        var waits = [(moves: Int, since: Int64, isTold: Bool)](repeating: (0, 0, false), count: 3)
        /// Moves with a client that is of no use any more.
        var useless = 0
        /// The team that speaks for each prefix.
        var teams = FakeReceipts.teams

        init(
            _ name: String,
            _ id: Int,
            _ members: [SimulatedProcess],
            _ loop: RefreshLoop,
            _ inbox: RefreshInbox,
            _ outlet: Outlet
        ) {
            (self.name, self.id, self.members, self.loop) = (name, id, members, loop)
            (self.inbox, self.outlet) = (inbox, outlet)
        }

        var isDead: Bool { members.contains(where: \.isDead) }
    }

    /// Confined to the test's thread, with all of a fleet.
    package final class Outlet: RequestOutlet, @unchecked Sendable {
        package var written: [OutboundRequest] = []
        package init() {}
        package func write(_ record: OutboundRequest) { written.append(record) }
    }

    /// Begins calls, and gives none up.
    private final class Caller: CallPort {
        let take: (ReceiptCall, @escaping @Sendable (CallReply) -> Void) -> Void
        init(_ take: @escaping (ReceiptCall, @escaping @Sendable (CallReply) -> Void) -> Void) { self.take = take }
        func begin(_ call: ReceiptCall, end: @escaping @Sendable (CallReply) -> Void) { take(call, end) }
        func stop() {}
    }

    static let lines = LineSettings(
        first: 2 * Milliseconds.second,
        again: 20 * Milliseconds.second,
        late: 60 * Milliseconds.second
    )
    private static let key = Result { try SigningKey.generate(.p256) }

    let plan: Plan
    package let brokers: [SimulatedBroker]
    package let books: RefreshBooks
    var random: SeededRandom
    var refreshers: [Refresher] = []
    var restarts: [(name: String, at: Int64)] = []
    private var nextName = 1
    var isChaotic = false
    var depth = 0
    private var lastID = 0
    package let counts: FaultCounts
    /// How often each event was logged.
    package private(set) var told: [String: Int] = [:]

    package init(_ plan: Plan, counts: FaultCounts = FaultCounts()) throws {
        (self.plan, self.counts) = (plan, counts)
        random = SeededRandom(seed: plan.seed)
        let books = RefreshBooks(partitions: plan.partitions, seed: random.next())
        self.books = books
        brokers = ReceiptLine.allCases.map { [seed = plan.seed] line in
            let seed = seed &* 3 &+ UInt64(line.rawValue)
            return SimulatedBroker(records: books.records, seed: seed, counts: counts)
        }
        for broker in brokers { broker.offerAll() }
    }

    var now: Int64 { brokers[0].now }
    var time: EvaluationTime { RefreshBooks.start.after(milliseconds: now) }

    /// Runs until every line has committed all there is.
    ///
    /// - Returns: what does not hold.
    package func run(calmSteps: Int = 30_000) throws -> [String] {
        isChaotic = plan.chaosSteps > 0
        for _ in 0..<plan.refreshers { try start(newName()) }
        for _ in 0..<plan.chaosSteps where complaints.isEmpty { try step() }
        try calmDown()
        for _ in 0..<calmSteps where complaints.isEmpty {
            if isSettled { return complaints }
            try step()
        }
        return complaints + unsettled
    }

    /// The lines that have not come to their end.
    private var unsettled: [String] {
        ReceiptLine.allCases.flatMap { line in
            (0..<Int32(plan.partitions)).compactMap { partition in
                let (committed, end) = (brokers[line.rawValue].committed[partition] ?? 0, books.end(of: partition))
                guard !books.isEnd(committed, of: partition) else { return nil }
                return "line \(line.name) stays at \(committed) of \(end) in partition \(partition) of a calm world"
            }
        }
    }

    var complaints: [String] { brokers.flatMap(\.violations) + books.complaints }

    private var isSettled: Bool {
        books.isQuiet && unsettled.isEmpty
    }

    private func calmDown() throws {
        isChaotic = false
        for refresher in refreshers {
            refresher.pausedUntil = 0
            for member in refresher.members { member.chances = .none }
        }
        for restart in restarts { try start(restart.name) }
        restarts = []
        if refreshers.allSatisfy({ $0.stopsUntil != nil }) { try start(newName()) }
    }

    func newName() -> String {
        defer { nextName += 1 }
        return "refresher-\(nextName)"
    }

    /// - Parameter teams: those that speak for each prefix.
    private func rules(_ teams: [String] = FakeReceipts.teams) throws -> RefreshRules {
        let key = try Self.key.get()
        let keys = zip(FakeReceipts.teams, teams).compactMap { prefix, team in
            ProviderKey(team: team, kid: "KEY1234567", key: key, appIDPrefixes: [prefix])
        }
        let apps: Set<String> = [FakeReceipts.app]
        return RefreshRules(keys: keys, apps: apps, callsPerSecond: plan.callsPerSecond, lines: Self.lines)
    }

    func start(_ name: String) throws {
        lastID += 1
        let id = lastID
        let members = brokers.map { member(name, $0) }
        let (inbox, outlet) = (RefreshInbox(), Outlet())
        let (rules, partitions, judge) = (try rules(), plan.partitions, FakeReceipts())
        do throws(KafkaFault) {
            let loop = RefreshLoop(
                RefreshDriver(rules, partitions: partitions, mostReceipts: plan.mostReceipts, judge: judge),
                groups: try LineGroup.all(partitions: Int32(partitions), say: { [unowned self] in hear($0) }) {
                    line throws(KafkaFault) in try members[line.rawValue].groupConsumer()
                },
                caller: Caller { [unowned self] in begin($0, of: id, $1) },
                outlet: outlet,
                topic: "requests",
                inbox: inbox,
                monitor: RefreshMonitor(version: "0"),
                say: { [unowned self] in hear($0) }
            )
            refreshers.append(Refresher(name, id, members, loop, inbox, outlet))
            counts.note("\(now) \(name) starts")
        } catch {
            restarts.append((name, now + 1_000))
        }
    }

    private func hear(_ event: LogEvent) {
        told[event.name.rawValue, default: 0] += 1
        counts.note(event.message)
    }

    private func member(_ name: String, _ broker: SimulatedBroker) -> SimulatedProcess {
        let process = SimulatedProcess(
            name: name,
            isStatic: plan.isStatic,
            broker: broker,
            seed: random.next(),
            chances: isChaotic ? plan.call : .none
        )
        // A line is minutes late at its best; a resume that the library drops is made again after 30 s.
        process.mostSilence = 45_000
        process.wait = { [unowned self] in pass(Int64($0)) }
        process.interlude = { [unowned self] in hold(name, $0) }
        return process
    }

    /// Each team speaks for the other's prefix.
    func reload(_ refresher: Refresher) throws {
        refresher.teams.reverse()
        refresher.loop.reload(try rules(refresher.teams))
    }

    private func refresher(_ id: Int) -> Refresher? { refreshers.first { $0.id == id && !$0.isDead } }

    /// A call of a refresher begins, and Apple answers in a while.
    private func begin(_ call: ReceiptCall, of id: Int, _ end: @escaping @Sendable (CallReply) -> Void) {
        // One that has died in a call does nothing more.
        guard let refresher = refresher(id) else { return }
        if refresher.stopsUntil != nil { books.complain("\(refresher.name) begins a call although it stops") }
        books.note(call, by: id, teams: refresher.teams, at: time)
        books.later(Int64.random(in: 20...4_000, using: &random), at: time) { [unowned self] in
            // Nobody hears what a process that has ended is answered.
            guard self.refresher(id) != nil else { return }
            let isOut = plan.outage.contains(now)
            let share = isOut ? 1 : isChaotic ? plan.appleFaults : 0
            end(books.answer(call, of: id, faults: share, only: isOut ? plan.outageFault : nil, at: time))
        }
    }
}
