internal import AppCheck
internal import Broker
internal import DeviceLab
internal import Gateway
internal import HTTP
internal import Kafka
internal import KafkaPorts
internal import Run
internal import Settings
internal import SimulationKit
internal import Streams
internal import Telemetry

/// A gateway as a process: the product's own behind its HTTP server, on simulated clients of the broker.
final class ServiceGateway {
    /// How long a supervisor waits before it starts a process again.
    private static let restartPause: Int64 = 2_000
    /// `message.timeout.ms` of a gateway.
    private static let messageTimeout: Int64 = 10_000
    /// The pause of a reader after a fault.
    private static let rest: Int64 = 200

    let name: String
    let clock = ServiceClock()
    private unowned let world: ServiceWorld
    /// The files on its disk.
    var files: ServiceFiles {
        didSet {
            guard files != oldValue else { return }
            (isAsked.value, changedAt) = (true, world.now)
            if oldValue.mistake == .noApp { listedAt = world.now }
            hasNoApp = hasNoApp || files.mistake == .noApp
            if files.keySet != oldValue.keySet { write() }
        }
    }
    private var changedAt: Int64 = .min / 2
    /// The present process; nil = none runs.
    private(set) var run: Run?
    private var startsAt: Int64 = 0
    /// Whether it has no connection to the brokers.
    var isCutOff = false { didSet { if oldValue { cutOffAt = world.now } } }
    private var cutOffAt: Int64 = .min / 2
    /// How long it has run without a connection, as far as it can know.
    private var cutOffFor: Int64 = 0, movedAt: Int64 = 0
    /// Whether its apps.json lists no app, and it has taken none since that lists one.
    private var hasNoApp = false
    /// When its apps.json last listed an app again.
    private var listedAt: Int64 = .min / 2
    /// When it stops taking calls, after SIGTERM; nil = it is not stopping.
    private(set) var stopsAt: Int64?
    private var isLeaving = false
    private let isAsked = Flag()

    /// The state that ends with a process.
    final class Run {
        let gateway: Gateway
        let process: SimulatedProcess
        fileprivate let outlet: Outlet
        fileprivate var feeds: [Feed]
        fileprivate var care: GatewayCare
        fileprivate(set) var unfitness: String?
        fileprivate(set) var calls: [ServiceCall] = []
        /// Whether a delivery report has brought a broker's time.
        fileprivate var knowsTime = false
        /// How many answers of each status it has given.
        private(set) var answers: [Int: Int] = [:]
        /// How many times no worker has answered in time, since one did.
        private(set) var timeouts = 0

        fileprivate init(
            _ gateway: Gateway,
            _ process: SimulatedProcess,
            _ outlet: Outlet,
            _ feeds: [Feed],
            _ care: GatewayCare
        ) {
            (self.gateway, self.process, self.outlet) = (gateway, process, outlet)
            (self.feeds, self.care) = (feeds, care)
        }

        fileprivate func note(_ status: Int, isOfWorker: Bool) {
            answers[status, default: 0] += 1
            timeouts = status == 504 ? timeouts + 1 : status == 200 && isOfWorker ? 0 : timeouts
        }
    }

    fileprivate struct Feed {
        let topic: TopicFeed
        let take: ([TopicRecord]) -> Void
        var restsUntil: Int64 = 0
    }

    init(_ name: String, _ world: ServiceWorld, _ files: ServiceFiles) {
        (self.name, self.world, self.files) = (name, world, files)
        write()
    }

    private func write() {
        do { try world.folder.write(files.keySet, of: name) } catch { world.complain("\(name): \(error)") }
    }

    /// Whether no call is open at it.
    var rests: Bool { run?.calls.isEmpty ?? true }

    /// Whether it had no connection for some of so many milliseconds.
    func wasCutOff(within milliseconds: Int64) -> Bool { world.now - cutOffAt < milliseconds }

    /// Whether its apps.json listed no app for some of the last milliseconds.
    func listsNoApp(within milliseconds: Int64) -> Bool {
        hasNoApp || world.now - listedAt < milliseconds
    }

    /// Whether its apps.json lists a token's app, and has for a while.
    func lists(_ subject: String) -> Bool {
        let isListed = files.apps.contains { $0.id == subject || $0.clients.contains(subject) }
        return isListed && files.mistake == nil && world.now - changedAt > 5_000
    }

    var takesCalls: Bool { run != nil && stopsAt.map { world.now < $0 } ?? true }

    /// A moment of the process.
    func move() {
        clock.tick(world.now)
        guard let run else {
            if world.now >= startsAt { start() }
            return
        }
        deliver(run)
        read(run)
        // Its clients may have died in a call.
        guard self.run === run else { return }
        let uptime = uptime
        let (unfitness, events) = run.care.poll { uptime.value }
        run.unfitness = unfitness
        for event in events { world.hear(event, from: name) }
        if let unfitness { world.check(unfitness, of: self) }
        cutOffFor = isCutOff ? cutOffFor + min(world.now - movedAt, 500) : 0
        movedAt = world.now
        if cutOffFor > 5_000, !(unfitness?.contains("no broker") ?? false), !listsNoApp(within: 10_000) {
            world.complain("silent: \(name), which is cut off, says \(unfitness ?? "that it is fit")")
        }
        run.calls.removeAll(where: \.isOver)
        if let stopsAt, world.now >= stopsAt, run.calls.isEmpty || world.now >= stopsAt + 32_000 {
            run.gateway.close()
            end(after: 100)
        }
    }

    /// Whether it has taken a call and lives.
    func holds(_ call: ServiceCall) -> Bool { run?.calls.contains { $0 === call } ?? false }

    /// A call arrives.
    func handle(_ call: ServiceCall) {
        guard let run, takesCalls else { return call.lose() }
        let http = call.http
        call.counted = { [unowned self, weak run, weak call] reply in
            call?.ahead = clock.ahead
            run?.note(reply.status, isOfWorker: !http.body.isEmpty)
        }
        call.answeredAgain = { [unowned self] in world.complain("unanswered: \(name) answers a call twice") }
        run.calls.append(call)
        (call.isDoubtful, call.ahead) = (!run.knowsTime && !clock.isRight(0), clock.ahead)
        run.gateway.handle(call.http, call)
    }

    /// The process dies, and with it its connections.
    func kill() {
        run?.process.kill()
        end(after: Self.restartPause)
    }

    /// SIGTERM: it takes calls for 5 s more, and answers those that are open.
    func stop() {
        guard run != nil, stopsAt == nil else { return }
        stopsAt = world.now + 5_000
    }

    /// SIGTERM, and nobody starts it again.
    func leave() {
        isLeaving = true
        stop()
        if run == nil { startsAt = .max }
    }

    var hasLeft: Bool { isLeaving && run == nil }

    private func end(after pause: Int64) {
        checkCounts()
        let calls = run?.calls ?? []
        (run, stopsAt, startsAt) = (nil, nil, isLeaving ? .max : world.now + pause)
        for call in calls { call.lose() }
    }

    /// Promise: a gateway counts each answer once.
    func checkCounts() {
        guard let run else { return }
        let counted = Dictionary(run.gateway.counts.answers.map { ($0.key.code, $0.value) }, uniquingKeysWith: +)
        guard counted != run.answers else { return }
        world.complain(
            "counts: \(name) counts answers \(counted.sorted { $0 < $1 }), not \(run.answers.sorted { $0 < $1 })"
        )
    }

    // MARK: start

    private func start() {
        startsAt = world.now + Self.restartPause
        do {
            let started = try make()
            (cutOffFor, hasNoApp) = (0, files.mistake == .noApp)
            world.note(name, "serves")
            run = started
        } catch let fault as ConfigurationFault {
            world.note(name, "does not start: \(fault.message)")
            world.hearRefusal(of: name)
        } catch { world.note(name, "waits for its broker: \(error)") }
    }

    private func make() throws -> Run {
        let (world, folder, isAsked) = (world, world.folder, isAsked)
        isAsked.value = false
        let read = ReadFiles(try folder.loaded(files, of: name), in: folder.path) { [unowned self] in
            files.configuration(in: folder, of: name)
        }
        let process = world.process(name)
        let expected = TopicPartitions(requests: Int32(world.broker.partitions.count), replies: world.plan.replies)
        let topics = GatewayTopics(
            names: .standard,
            partitions: expected.requests,
            partitioner: .murmur2,
            replyTo: expected.replies.map { Partitioner.crc32.partition(of: Array(name.utf8), count: $0) }
        )
        let (outlet, uptime, random) = (Outlet(), uptime, world.bytes(of: name))
        let (simulated, broker) = (clock.simulated, world.broker)
        let dependencies = Gateway.Dependencies(
            wallClock: { broker.time + simulated.ahead },
            uptime: { uptime.value },
            randomBytes: random
        )
        let gateway = Gateway(try read.loaded.makeRules(), topics: topics, dependencies: dependencies, outlet: outlet)
        var feeds: [Feed] = []
        var takers: [(OutputTopic, [Int32], ([TopicRecord]) -> Void)] = [
            (.results, broker.partitions, { gateway.note(results: $0) }),
            (.tokens, broker.partitions, { gateway.note(tokens: $0) }),
        ]
        if let partition = topics.replyTo { takers = [(.replies, [partition], { gateway.note(replies: $0) })] }
        for (stream, partitions, take) in takers {
            let topic = TopicFeed(of: partitions) { () throws(KafkaFault) in try process.recordReader(of: stream) }
            try topic.open()
            feeds.append(Feed(topic: topic, take: take))
        }
        let watch = ReloadWatch(
            read,
            isAsked: {
                defer { isAsked.value = false }
                return isAsked.value
            },
            elapsed: { .milliseconds(uptime.value) },
            apply: gateway.replace,
            say: { [unowned world, name] in world.hear($0, from: name) },
            reloaded: { [unowned self] in hasNoApp = hasNoApp && (!$0 || files.mistake == .noApp) }
        )
        let isCutOff = { [weak self] in self?.isCutOff ?? true }
        let ask = Asker { counts in
            if isCutOff() { return .away("no connection") }
            let shown = Int32(broker.shownPartitionCount)
            return counts ? .partitions(TopicPartitions(requests: shown, replies: expected.replies)) : .present
        }
        let brokers = TopicsWatch(expected, now: uptime.value, run: { $0() }, ask: { ask.answer($0) })
        gateway.open()
        return Run(
            gateway,
            process,
            outlet,
            feeds,
            GatewayCare(gateway, watch, brokers, replies: expected.replies.map { _ in "replies" })
        )
    }

    /// Milliseconds of a clock that never goes back.
    private var uptime: Uptime { Uptime(world.broker) }

    // MARK: the broker

    /// Delivers written records to the broker, or loses them.
    private func deliver(_ run: Run) {
        for (request, since) in run.outlet.take(at: world.now) {
            guard isCutOff else {
                send(request, run)
                continue
            }
            if world.now - since < Self.messageTimeout {
                run.outlet.putBack(request, since)
            } else if let ticket = request.ticket {
                run.gateway.note([DeliveryReport(ticket: ticket, outcome: .notWritten)])
            }
        }
    }

    private func send(_ request: OutboundRequest, _ run: Run) {
        guard request.topic == TopicNames.standard.requests else { return }
        let dice = world.isChaotic ? world.dice(40) : 40
        // The record is lost, or only the broker's answer.
        let outcome: DeliveryReport.Outcome = dice == 0 ? .notWritten : dice <= 2 ? .unknown : .written
        var timestamp: Int64?
        if outcome == .written || dice == 1 {
            let record = world.broker.append(request.key, request.value, request.headers, to: request.partition)
            world.noteWritten(record)
            timestamp = outcome == .written ? record.timestamp : nil
        }
        guard let ticket = request.ticket else { return }
        let report = DeliveryReport(ticket: ticket, outcome: outcome, offset: nil, timestamp: timestamp, broker: 1)
        world.later(Int64(1 + world.dice(20))) { [weak run] in
            run?.gateway.note([report])
            if timestamp != nil { run?.knowsTime = true }
        }
    }

    private func read(_ run: Run) {
        for index in run.feeds.indices where world.now >= run.feeds[index].restsUntil && !isCutOff {
            do throws(KafkaFault) {
                let records = try run.feeds[index].topic.poll(waiting: 0)
                if !records.isEmpty { run.feeds[index].take(records) }
            } catch { run.feeds[index].restsUntil = world.now + Self.rest }
        }
        if run.process.isDead { end(after: Self.restartPause) }
    }
}

/// The monotonic clock of a simulated machine. Confined to the test's thread.
struct Uptime: @unchecked Sendable {
    private let broker: SimulatedBroker
    init(_ broker: SimulatedBroker) { self.broker = broker }
    var value: Int64 { 1_000_000 + broker.now }
}

/// Confined to the test's thread.
final class Flag: @unchecked Sendable { var value = false }

/// Confined to the test's thread.
private struct Asker: @unchecked Sendable {
    let answer: (Bool) -> TopicsWatch.Answer
    init(_ answer: @escaping (Bool) -> TopicsWatch.Answer) { self.answer = answer }
}

/// The records that a process has handed to its producer. Confined to the test's thread.
private final class Outlet: RequestOutlet, @unchecked Sendable {
    private var fresh: [OutboundRequest] = []
    private var waiting: [(OutboundRequest, since: Int64)] = []

    func write(_ record: OutboundRequest) { fresh.append(record) }

    func take(at now: Int64) -> [(OutboundRequest, since: Int64)] {
        defer { (fresh, waiting) = ([], []) }
        return waiting + fresh.map { ($0, now) }
    }

    func putBack(_ record: OutboundRequest, _ since: Int64) { waiting.append((record, since)) }
}

/// A call on its way: it is answered once, or its connection ends without an answer.
final class ServiceCall: HTTPResponder, @unchecked Sendable {
    // Confined to the test's thread.
    let http: HTTPCall
    private(set) var reply: HTTPReply?
    private(set) var isOver = false
    /// Whether its gateway's clock is wrong, and the gateway has had no broker's time yet.
    var isDoubtful = false
    /// How far its gateway's clock is ahead, in milliseconds.
    var ahead: Int64 = 0
    /// Counts an answer; complains of a second one.
    var counted: ((HTTPReply) -> Void)?, answeredAgain: (() -> Void)?
    private let ended: (HTTPReply?) -> Void

    /// - Parameter ended: takes the reply; nil = the connection is lost.
    init(_ http: HTTPCall, ended: @escaping (HTTPReply?) -> Void) { (self.http, self.ended) = (http, ended) }

    func answer(_ reply: HTTPReply) {
        counted?(reply)
        if self.reply != nil { answeredAgain?() }
        guard !isOver else { return }
        isOver = true
        self.reply = reply
        ended(reply)
    }

    func lose() {
        guard !isOver else { return }
        isOver = true
        ended(nil)
    }
}
