internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import HTTP
internal import KafkaPorts
package import Pipeline
package import SimulationKit
package import Streams
internal import Telemetry
internal import TestKit

/// The whole service under one seed: workers, gateways, stock clients, backends and an operator, each with a clock of its own,
/// around one simulated Kafka. Confined to the test's thread.
package final class ServiceWorld {
    /// What all seeds share.
    package final class Shared {
        let folder: ServiceFolder
        let ca = LabCA(seed: 4, signer: OracleSigner())
        let scratch: LaneScratch

        package init() throws {
            folder = try ServiceFolder()
            let limits = PipelineSettings(registry: try ExchangeKit.registry()).objectLimits
            let verifier = ObjectVerifier(anchors: try ca.anchors(), limits: limits)
            scratch = LaneScratch(verifier: verifier, engine: OracleEngine())
        }
    }

    let plan: ServicePlan
    let shared: Shared
    private(set) var fleet: SimulatedFleet
    var isMoving = false
    private let counts = FaultCounts()
    var random: SeededRandom
    /// The files that the operator intends.
    var files = ServiceFiles()
    private(set) var gateways: [ServiceGateway] = []
    private var lastGateway = 0
    private(set) var devices: [ServiceDevice] = []
    private(set) var backends: [ServiceBackend] = []
    private var tester: ServiceTester?
    private(set) var desks: [String: WorkerDesk] = [:]
    private(set) lazy var operation = ServiceOperator(self)
    let account = ServiceAccount()
    private var events: [(at: Int64, number: Int, act: () -> Void)] = []
    private var eventCount = 0
    /// How many sources of random bytes there are.
    private var seeds: UInt64 = 0
    /// Open calls, their gateways, and their deadlines.
    private var open: [(call: ServiceCall, gateway: ServiceGateway, limit: Int64)] = []
    private var captured: [(call: StockCall, headers: [HTTPHeader])] = []
    private(set) var calmSince: Int64?
    /// How far a clock that is right is ahead of the brokers', in milliseconds.
    var trueAhead: Int64 = 0 { didSet { if trueAhead != oldValue { shiftedAt = now } } }
    /// When the brokers' clocks were set last: tokens from before are dated by the other time.
    private(set) var shiftedAt: Int64 = .min / 2
    /// Processes whose last reload was refused.
    var refusing: Set<String> = []

    package init(_ plan: ServicePlan, _ shared: Shared) throws {
        (self.plan, self.shared) = (plan, shared)
        random = SeededRandom(seed: plan.seed &* 0xD134_2543_DE82_EF95)
        (files.challengeSeconds, files.requiresBundle) = (plan.challengeSeconds, plan.requiresBundle)
        files.isTested = plan.isTested
        fleet = try Self.fleet(plan, files, shared, counts)
        fleet.company = self
        for _ in 1...plan.gateways { _ = addGateway() }
        backends = (1...2).map { ServiceBackend("backend-\($0)", self) }
        if plan.isTested { tester = ServiceTester("tester-1", self) }
        let kinds: [ServiceDevice.Kind] = [.clip, .clip, .forger, .cheat]
        for _ in 0..<plan.devices { addDevice(chance(0.3) ? kinds.randomElement(using: &random) ?? .app : .app) }
    }

    private static func fleet(
        _ plan: ServicePlan,
        _ files: ServiceFiles,
        _ shared: Shared,
        _ counts: FaultCounts
    ) throws -> SimulatedFleet {
        var fleetPlan = plan.fleet
        fleetPlan.partitions = fleetPlan.partitions ?? 3
        let partitions = fleetPlan.partitions ?? 3
        let settings = try WorkerDesk.settings(files, shared.folder, requests: partitions, replies: plan.replies)
        return SimulatedFleet(fleetPlan, records: [], settings: settings, scratch: shared.scratch, counts: counts)
    }

    var broker: SimulatedBroker { fleet.broker }
    var folder: ServiceFolder { shared.folder }
    var ca: LabCA { shared.ca }
    var now: Int64 { broker.now }
    var isChaotic: Bool { fleet.isChaotic }

    /// 0 ..< count.
    func dice(_ count: Int) -> Int { Int(random.next() >> 33) % max(1, count) }

    func chance(_ share: Double) -> Bool { Double(random.next() >> 11) * 0x1p-53 < share }

    func addDevice(_ kind: ServiceDevice.Kind, of app: Int = 0) {
        guard files.apps.indices.contains(app) else { return }
        devices.append(ServiceDevice("device-\(devices.count + 1)", kind, app: files.apps[app], self))
    }

    func addGateway() -> ServiceGateway {
        lastGateway += 1
        let gateway = ServiceGateway("gateway-\(lastGateway)", self, files)
        gateway.clock.set(ahead: trueAhead, at: now)
        gateways.append(gateway)
        return gateway
    }

    /// The clocks of all machines.
    var clocks: [ServiceClock] {
        gateways.map(\.clock) + backends.map(\.clock) + devices.map(\.clock)
            + desks.values.sorted { $0.name < $1.name }.map(\.clock)
    }

    /// Runs the seed. - Returns: the broken promises.
    package func run() -> [String] {
        var complaints = runFleet()
        guard complaints.isEmpty, plan.movesTo != nil else { return complaints }
        do { try moveTopics() } catch { return ["the topics are not moved: \(error)"] }
        complaints = runFleet()
        return complaints
    }

    private func runFleet() -> [String] {
        let isDone = fleet.run(calmSteps: 20_000)
        for gateway in gateways { gateway.checkCounts() }
        var complaints = fleet.breakdowns + broker.violations + account.complaints
        if !isDone, complaints.isEmpty { complaints.append("the service does not come to rest: \(unrest)") }
        return complaints + ServiceCheck(self).complaints
    }

    /// Topics with other numbers of partitions, of a cluster whose time goes on.
    func makeFleet(partitions: Int32) throws -> SimulatedFleet {
        var plan = plan
        (plan.fleet.partitions, plan.fleet.chaosSteps) = (partitions, 0)
        let next = try Self.fleet(plan, files, shared, counts)
        next.broker.continueTime(of: broker)
        return next
    }

    func goOn(_ next: SimulatedFleet) {
        fleet = next
        fleet.company = self
        account.moveOn()
        isMoving = false
        for _ in captured { later(Int64(dice(60_000))) { [unowned self] in replay() } }
    }

    private var unrest: String {
        let waiting =
            devices.filter { !$0.rests || isWanting($0) }.map(\.name) + backends.filter { !$0.rests }.map(\.name)
        return (waiting + fleet.states + fleet.held.sorted().map { "partition \($0) is held" }).joined(separator: ", ")
    }

    // MARK: processes

    func process(_ name: String) -> SimulatedProcess {
        let process = fleet.process(name, of: broker)
        // A gateway may hear an answer after its caller has left.
        if isChaotic { process.slowPaces = SimulatedProcess.rare }
        return process
    }

    /// Random bytes of one process, unlike any other's.
    func bytes(of name: String) -> @Sendable (Int) -> [UInt8] {
        seeds += 1
        let source = ByteSource(plan.seed << 20 | seeds)
        return { source.next($0) }
    }

    /// Confined to the test's thread.
    private final class ByteSource: @unchecked Sendable {
        private var random: SeededRandom
        init(_ seed: UInt64) { random = SeededRandom(seed: ~seed) }
        func next(_ count: Int) -> [UInt8] { random.bytes(count) }
    }

    // MARK: time

    func later(_ milliseconds: Int64, _ act: @escaping () -> Void) {
        eventCount += 1
        events.append((now + milliseconds, eventCount, act))
    }

    private func runEvents() {
        while let next = events.indices.min(by: {
            (events[$0].at, events[$0].number) < (events[$1].at, events[$1].number)
        }),
            events[next].at <= now
        {
            let act = events[next].act
            events.remove(at: next)
            act()
        }
    }

    // MARK: the network

    /// How long a client waits for an answer, in milliseconds.
    private static let patience: Int64 = 60_000

    /// A call through a balancer, which picks a gateway. - Parameter ended: takes the reply; nil = the connection is lost.
    func call(
        _ method: String,
        _ path: String,
        _ headers: [HTTPHeader],
        _ body: [UInt8],
        ended: @escaping (HTTPReply?) -> Void
    ) -> ServiceCall {
        let http = HTTPCall(
            method: Array(method.utf8),
            target: Array(path.utf8),
            headers: headers,
            body: body,
            peer: PeerAddress(bytes: [192, 0, 2, 1])
        )
        let fate = isChaotic && plan.losesCalls ? dice(60) : 60
        let call = ServiceCall(http) { [unowned self] reply in
            later(Int64(1 + dice(100))) { ended(fate == 0 ? nil : reply) }
        }
        let gateway = gateways.filter(\.takesCalls).randomElement(using: &random)
        guard fate != 1, let gateway else {
            call.lose()
            return call
        }
        later(Int64(1 + dice(100))) { gateway.handle(call) }
        open.append((call, gateway, now + Self.patience))
        return call
    }

    private func checkOpen() {
        open.removeAll { $0.call.isOver }
        for (call, gateway, limit) in open where now >= limit {
            if gateway.holds(call) { complain("unanswered: \(gateway.name) leaves a call without an answer") }
            call.lose()
        }
    }

    /// Whether no call is under way.
    private var rests: Bool {
        open.allSatisfy(\.call.isOver) && !backends.contains(where: \.isCalling)
    }

    /// The next moment at which a device, a backend or an event acts.
    private var nextMoment: Int64 {
        let asks =
            devices.filter { isChaotic || isWanting($0) || !$0.rests }.map(\.asksAt) + backends.compactMap(\.fetchesAt)
        return min(asks.min() ?? .max, events.lazy.map(\.at).min() ?? .max)
    }

    /// A stranger replays a recorded call that was answered with a token: it must get no second answer.
    private func replay() {
        guard let heard = captured.randomElement(using: &random) else { return }
        note("stranger", "repeats a call: \(heard.call.kind)")
        _ = call("POST", heard.call.path, heard.headers, heard.call.body ?? []) { [unowned self] reply in
            if reply?.status == 200 { complain("replayed: who repeats a device's \(heard.call.kind) gets an answer") }
        }
    }

    /// Records a call that a gateway answered with a token, whether or not the answer arrived.
    func noteHeard(_ call: StockCall, _ headers: [HTTPHeader]) {
        guard call.body != nil else { return }
        captured.append((call, headers))
        if captured.count > 20 { captured.removeFirst() }
    }
}

extension ServiceWorld: FleetCompany {
    package func move() {
        guard !isMoving else { return }
        runEvents()
        checkOpen()
        if isChaotic {
            operation.move()
            if plan.replays, dice(80) == 0 { replay() }
        }
        for gateway in gateways where operation.isWaiting || dice(2) == 0 { gateway.move() }
        gateways.removeAll(where: \.hasLeft)
        for device in devices { device.move() }
        for backend in backends { backend.move() }
        tester?.move()
        for desk in desks.values.sorted(by: { $0.name < $1.name }) { desk.move() }
        if !isChaotic { hurry() }
    }

    package func calm() {
        operation.calm()
        calmSince = now
        account.meet("chaotic seconds", Int(now / 1_000))
        trueAhead = 0
        for clock in clocks { clock.set(ahead: 0, at: now) }
        for gateway in gateways {
            gateway.isCutOff = false
            gateway.files = files
            gateway.run?.process.chances = .none
            gateway.run?.process.slowPaces = SimulatedProcess.often
        }
        for desk in desks.values.sorted(by: { $0.name < $1.name }) {
            desk.files = files
            desk.disturbToken(failures: 0, hangs: 0)
        }
        note("world", "is calm")
        later(200) { [unowned self] in restartRefusing() }
    }

    /// The operator restarts processes that refused the right files.
    func restartRefusing() {
        for name in refusing.sorted() {
            note("operator", "starts \(name) again")
            gateways.first { $0.name == name }?.kill()
            if desks[name] != nil { fleet.restart(name) }
        }
        refusing = []
    }

    /// Skips time in which nothing happens.
    func leap(until due: Int64) {
        guard rests, fleet.isQuiet, !desks.values.contains(where: \.isFresh) else { return }
        let pause = min(due, nextMoment) - now
        if pause > 500 { fleet.leap(pause) }
    }

    /// Skips the back-off of devices, and complains if one gets no token.
    private func hurry() {
        leap(until: now + 300_000)
        if let calmSince, now - calmSince > 6 * 3_600_000 {
            for device in devices where isWanting(device) {
                account.complain(
                    "no token: \(device.name) has none \((now - calmSince) / 3_600_000) h after all is well"
                )
            }
        }
    }

    /// A device that can have a token, and has had none since the world is calm.
    func isWanting(_ device: ServiceDevice) -> Bool {
        guard device.kind.isHonest, let calmSince, files.lists(device.app) else { return false }
        return (device.lastToken ?? -1) < calmSince
    }

    package var mostPause: Int {
        // What has waited for seconds waits for a worker, or for its deadline.
        let isLong = open.allSatisfy { $0.call.isOver || now - $0.limit > 3_000 - Self.patience }
        return rests ? 2_000 : isChaotic && isLong && !backends.contains(where: \.isCalling) ? 500 : 200
    }

    package var isSettled: Bool {
        calmSince != nil && devices.allSatisfy { $0.rests && !isWanting($0) } && backends.allSatisfy(\.rests)
            && gateways.allSatisfy { $0.run != nil && $0.run?.unfitness == nil }
    }

    private func desk(_ name: String) -> WorkerDesk {
        if let desk = desks[name] { return desk }
        let desk = WorkerDesk(name, self, files)
        desk.clock.set(ahead: trueAhead, at: now)
        desks[name] = desk
        return desk
    }

    package func settings(of worker: String) -> PipelineSettings? {
        note(worker, "starts")
        return desk(worker).start()
    }

    package func clock(of worker: String) -> SimulatedClock { desk(worker).clock.simulated }

    package func ended(_ worker: String, _ sentence: String) {
        note(worker, "ends: \(sentence)")
        hearRefusal(of: worker)
    }

    package func told(_ fault: any SourceFault, by worker: String) {
        if fault is KafkaFault || fault is AssignmentNotice {
            note(worker, "reports \(fault)")
            return account.lastGroupLine = now
        }
        hear(LogEvent(fault), from: worker)
        guard let doubt = fault as? ClockDoubt else { return }
        if abs(desk(worker).clock.ahead) < 1_000, trueAhead == 0 {
            complain("wrongly blamed: \(worker) says '\(doubt)', and its clock is right")
        }
    }
}

extension ServiceWorld {
    /// Records the story from now on.
    package func tellStory() { (account.story, counts.trace) = ([], []) }

    package var trace: [String] { counts.trace ?? [] }

    package var story: [String] { account.story ?? [] }

    /// How often each procedure began and ended, and tokens were accepted and consumed.
    package var met: [String: Int] { account.met }
}
