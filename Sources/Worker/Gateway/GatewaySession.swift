internal import AppCheck
internal import Broker
internal import Crypto
internal import Dispatch
internal import Gateway
internal import Glibc
internal import HTTP
internal import Kafka
internal import Log
internal import Settings

/// `gateway`: HTTP in front of the topics, from the checks before the start until it has drained.
final class GatewaySession {
    private static let askMilliseconds = 5_000
    private static let pauseMicroseconds: UInt32 = 50_000
    private static let retryMicroseconds: UInt32 = 500_000
    /// How long topics may be missing: just created ones appear one after the other.
    private static let newsTime = Duration.seconds(5)
    /// How often the partitions are counted again.
    private static let countPause = Duration.seconds(10)
    /// How long connections are accepted after a signal: a proxy learns from readiness that it must go elsewhere.
    private static let acceptTime = Duration.seconds(5)
    /// Beyond the calls' own deadline.
    private static let grace = Duration.seconds(2)

    private let directory: String
    private let instance: String
    private let loaded: LoadedGateway
    private let rules: GatewayRules
    private let stamps: [String: FileStamp]
    private let properties: [(String, String)]
    private let log: EventLog
    private let monitor = GatewayMonitor()
    private let service = ServiceManager.ofProcess
    private let stopped = StopFlag()

    private var configuration: Configuration { loaded.configuration }

    init(directory: String, instance: String, console: Console) throws {
        (self.directory, self.instance) = (directory, instance)
        let first = try LoadedGateway.load(.ofClient(directory))
        stamps = FileStamp.all(first.paths(in: directory))
        loaded = try LoadedGateway.load(.ofClient(directory))
        rules = try GatewayRules.of(loaded)
        guard !loaded.configuration.embeddedBroker else {
            throw ConfigurationFault(
                "worker.json: the embedded broker lives inside of its worker: a gateway needs a broker of its own."
            )
        }
        properties = try loaded.configuration.brokerProperties()
        log = EventLog.standard(loaded.configuration.log, isTerminal: console.isTerminal)
        log.name(instance: instance)
    }

    /// Runs until a signal asks for the end.
    func run() throws {
        ClientLog.route { [log] in log.log(LogEvent($0)) }
        defer { log.finish() }
        do { try work() } catch  where log.style != .terminal {
            log.log(.error, .stopped, AttestWorker.sentence(for: error))
            throw LoggedFault(exitCode: AttestWorker.exitCode(for: error))
        }
    }

    private func work() throws {
        let shutdown = Shutdown { [service, log, stopped] _ in
            service.say(.stopping)
            log.log(.info, .stopping, "stop requested: open calls are answered first")
            stopped.set()
        }
        let hangup = Hangup()
        defer {
            shutdown.cancel()
            hangup.cancel()
        }
        let metrics = monitor.serve(configuration) { [log] in log.log(.warning, .metricsUnserved, $0) }
        service.say(.ready, status: "gateway \(instance)")
        let feed = WatchdogFeed(service, silence: { [monitor] in monitor.silence }, most: Endpoints.mostSilence)
        defer { withExtendedLifetime((metrics, feed)) {} }
        sayDoubts()
        guard let counts = try waitForBroker() else {
            return log.log(.info, .stopped, "stop requested before the broker answered: nothing was served")
        }
        let broker = GatewayBroker(
            configuration,
            properties: properties,
            counts: counts,
            instance: instance
        ) { [log] in log.log(LogEvent($0)) }
        let world = Gateway.World(
            wallClock: WallClock.milliseconds,
            uptime: { Uptime.milliseconds() ?? 0 },
            randomBytes: SecureRandom.bytes
        )
        let gateway = Gateway(rules, topics: broker.topics, world: world, outlet: broker.writer)
        guard try start(broker, gateway) else { return }
        let server = try serve(gateway)
        monitor.note(gateway, server)
        let watch = GatewayWatch(
            directory: directory,
            running: loaded,
            stamps: stamps,
            isAsked: hangup.take,
            apply: gateway.replace,
            say: log.log,
            reloaded: monitor.note(reloaded:)
        )
        let place = "\(configuration.gateway.address), port \(server.port)"
        log.log(.info, .starting, "gateway \(instance) serves \(place): \(counts.requests) partitions")
        attend(gateway, watch, counts)
        drain(gateway, server, broker)
    }

    private func sayDoubts() {
        for line in configuration.doubts {
            log.log(.warning, .configurationDoubtful, line)
        }
        for line in DebugTokens.warnings(configuration.registry, now: WallClock.milliseconds()) {
            log.log(.warning, .configurationDoubtful, line)
        }
        if loaded.challenges.active == nil {
            log.log(.warning, .configurationDoubtful, "worker.json lists no challenge key: challenges get 503")
        }
        if loaded.publicKeys == nil {
            log.log(
                .warning,
                .configurationDoubtful,
                "gateway.publicKeys names no file: no key set is served; write one with \(AttestWorker.name) jwks"
            )
        }
        guard configuration.delivery == .atLeastOnce else { return }
        log.log(
            .warning,
            .configurationDoubtful,
            "delivery is at-least-once: after a fault two answers to a call may differ, and the first is sent"
        )
    }

    private func serve(_ gateway: Gateway) throws -> HTTPExchangeServer {
        var limits = HTTPExchangeLimits()
        limits.connections = configuration.gateway.connections
        limits.bodyBytes = configuration.limits.valueBytes
        limits.readBytes = configuration.gateway.waitingBytes
        do throws(HTTPFault) {
            return try HTTPExchangeServer(
                address: configuration.gateway.address,
                port: UInt16(clamping: configuration.gateway.port),
                limits: limits,
                handler: { gateway.handle($0, $1) }
            )
        } catch {
            throw CommandFault("\(error.description); change gateway.address and gateway.port in worker.json.")
        }
    }

    /// Waits until the broker answers and the topics are there.
    ///
    /// - Returns: their partitions; nil when a signal came first.
    private func waitForBroker() throws -> GatewayPartitions? {
        monitor.note(.waitingForBroker, "the broker has not answered yet")
        var isAway = false
        let newsLimit = ContinuousClock.now + Self.newsTime
        while !stopped.isSet {
            do {
                let counts = try GatewayPartitions(configuration.topics, KafkaProperties(properties))
                if isAway { log.log(.info, .brokerBack, "the broker answers") }
                return counts
            } catch let fault as KafkaFault where fault.isRecoverable {
                if !isAway { log.log(.warning, .brokerWaiting, "waiting for the broker: \(fault.message)") }
                isAway = true
                monitor.note(.waitingForBroker, fault.message)
                usleep(Self.retryMicroseconds)
            } catch let fault as CommandFault where ContinuousClock.now < newsLimit {
                monitor.note(.waitingForBroker, AttestWorker.sentence(for: fault))
                usleep(Self.retryMicroseconds)
            }
        }
        return nil
    }

    /// - Returns: false when a signal came first.
    private func start(_ broker: GatewayBroker, _ gateway: Gateway) throws -> Bool {
        while !stopped.isSet {
            do throws(KafkaFault) {
                try broker.start(gateway)
                gateway.open()
                return true
            } catch {
                guard error.isRecoverable else { throw error }
                monitor.note(.waitingForBroker, error.message)
                log.log(LogEvent(error))
                usleep(Self.retryMicroseconds)
            }
        }
        return false
    }

    /// Serves until a signal asks for the end.
    private func attend(_ gateway: Gateway, _ watch: GatewayWatch, _ partitions: GatewayPartitions) {
        var counted = ContinuousClock.now
        let count = PartitionWatch(partitions) {
            [topics = configuration.topics, properties = KafkaProperties(properties)] in
            try GatewayPartitions(topics, properties)
        }
        var said: String?
        while !stopped.isSet {
            usleep(Self.pauseMicroseconds)
            gateway.look()
            watch.poll()
            log.tick()
            if ContinuousClock.now - counted >= Self.countPause {
                counted = .now
                count.ask()
            }
            let reason = count.reason ?? gateway.clockDoubt.map(Self.sentence(clockDoubt:))
            monitor.note(reason == nil ? .running : .paused, reason)
            if let reason, reason != said { log.log(.error, .gatewayNotReady, reason) }
            if reason == nil, said != nil { log.log(.info, .gatewayReady, "the gateway is ready again") }
            said = reason
        }
    }

    private static func sentence(clockDoubt offset: Int64) -> String {
        let seconds = abs(offset) / 1000
        return "this machine's clock is \(seconds) s \(offset > 0 ? "behind" : "ahead of") the replies: set it right"
    }

    private func drain(_ gateway: Gateway, _ server: HTTPExchangeServer, _ broker: GatewayBroker) {
        monitor.note(.stopping)
        server.beginDrain()
        let begin = ContinuousClock.now
        while ContinuousClock.now - begin < Self.acceptTime { attendEnd(gateway) }
        server.stopAccepting()
        let patience = Duration.milliseconds(configuration.gateway.deadlineMilliseconds) + Self.grace
        while server.counts.openCalls > 0, ContinuousClock.now - begin < patience { attendEnd(gateway) }
        gateway.close()
        server.stop()
        broker.stop()
        let counts = gateway.counts
        let answered = counts.answers.reduce(0) { $0 + $1.value }
        log.log(.info, .stopped, "stopped: \(answered) calls answered, \(counts.deadlines) of them too late")
    }

    private func attendEnd(_ gateway: Gateway) {
        usleep(Self.pauseMicroseconds)
        gateway.look()
        monitor.note(.stopping)
    }
}
