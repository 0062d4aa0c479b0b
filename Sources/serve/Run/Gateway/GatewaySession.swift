internal import AppCheck
internal import Broker
package import CommandFrame
package import Gateway
internal import HTTP
internal import Kafka
internal import KafkaPorts
package import Settings
package import Telemetry

/// `gateway`: HTTP in front of the topics, from the checks before the start until it has drained.
package final class GatewaySession {
    private static let pause = Duration.milliseconds(50)
    /// How long connections are accepted after a signal: a proxy learns from readiness that it must go elsewhere.
    private static let acceptTime = Duration.seconds(5)
    /// The grace beyond the calls' own deadline.
    private static let grace = Duration.seconds(2)

    private let instance: String
    private let files: ReadFiles<LoadedGateway>
    private let rules: GatewayRules
    private let properties: [(String, String)]
    private let shell: ProgramShell
    private let monitor = GatewayMonitor(version: AttestWorker.version)
    private let renewal: ClientRenewal

    private var configuration: Configuration { files.loaded.configuration }
    private var log: EventLog { shell.log }

    package init(directory: String, instance: String, console: Console) throws {
        self.instance = instance
        files = try ReadFiles(in: directory)
        rules = try files.loaded.makeRules()
        let configuration = files.loaded.configuration
        guard !configuration.embeddedBroker else {
            throw ConfigurationFault(
                "worker.json: the embedded broker lives inside of its worker: a gateway needs a broker of its own."
            )
        }
        properties = try configuration.brokerProperties()
        renewal = ClientRenewal(properties)
        shell = ProgramShell(configuration.log, console)
        shell.log.name(instance: instance)
    }

    /// Doubts about the configuration and the files, one line each.
    package var warnings: [String] { files.loaded.warnings + StartDoubts.here.ofGateway(configuration) }

    /// - Throws: where a start waits, not ready, for an apps.json with an app.
    package func checkHasApp() throws(ConfigurationFault) { try configuration.checkHasApp() }

    /// Runs until a signal asks for the end.
    package func run() throws { try shell.run(work) }

    private func work() throws {
        let stop: @Sendable (Shutdown) -> Void = { [log, stopped = shell.stopped] _ in
            log.log(.info, .stopping, "stop requested: open calls are answered first")
            stopped.set()
        }
        try shell.attend(monitor, configuration, name: "gateway \(instance)", stop: stop) { reload in
            shell.warn(warnings)
            guard let counts = try shell.waitForBroker(monitor, ask: askPartitions) else {
                return log.log(.info, .stopped, "stop requested before the broker answered: nothing was served")
            }
            let broker = GatewayBroker(
                configuration,
                properties: properties,
                counts: counts,
                instance: instance
            ) { [log] in log.log(LogEvent($0)) }
            let gateway = broker.gateway(rules)
            guard try start(broker, gateway) else { return }
            let server = try serve(gateway)
            monitor.update { ($0.gateway, $0.server) = (gateway, server) }
            let watch = ReloadWatch(
                files,
                isAsked: reload.take,
                apply: gateway.replace,
                say: log.log,
                reloaded: monitor.note(reloaded:)
            )
            let place = "\(configuration.gateway.address), port \(server.port)"
            let count = Int(counts.requests).counted("partition")
            log.log(.info, .starting, "gateway \(instance) serves \(place): \(count)")
            attend(gateway, watch, counts, broker.writer)
            drain(gateway, server, broker)
        }
    }

    private func askPartitions() throws -> TopicPartitions {
        try TopicPartitions(configuration.topics, Admin(KafkaProperties(properties)))
    }

    private func serve(_ gateway: Gateway) throws -> HTTPCallServer {
        var limits = HTTPCallLimits()
        limits.connections = configuration.gateway.connections
        limits.bodyBytes = configuration.limits.valueBytes
        limits.readBytes = configuration.gateway.waitingBytes
        do throws(HTTPFault) {
            return try HTTPCallServer(
                address: configuration.gateway.address,
                port: UInt16(clamping: configuration.gateway.port),
                limits: limits,
                handler: { gateway.handle($0, $1) }
            )
        } catch {
            throw CommandFault("\(error.description); change gateway.address and gateway.port in worker.json.")
        }
    }

    /// - Returns: false when a signal came first.
    private func start(_ broker: GatewayBroker, _ gateway: Gateway) throws -> Bool {
        while !shell.stopped.isSet {
            do throws(KafkaFault) {
                try broker.start(gateway)
                gateway.open()
                return true
            } catch {
                guard error.isRecoverable else { throw error }
                monitor.note(.waitingForBroker, error.message)
                log.log(LogEvent(error))
                ProgramShell.pause(ProgramShell.retryPause)
            }
        }
        return false
    }

    /// Serves until a signal asks for the end.
    private func attend(
        _ gateway: Gateway,
        _ watch: ReloadWatch<LoadedGateway>,
        _ partitions: TopicPartitions,
        _ writer: RequestWriter
    ) {
        let now: @Sendable () -> Int64 = { Uptime.milliseconds() ?? 0 }
        let brokers = TopicsWatch(partitions, configuration.topics, KafkaProperties(properties), now: now())
        var renewal = renewal
        var care = GatewayCare(gateway, watch, brokers, replies: configuration.topics.replies)
        while !shell.stopped.isSet {
            ProgramShell.pause(Self.pause)
            _ = renewal.poll(log.log)
            log.tick()
            for event in monitor.poll(writer.connections, at: now()) { log.log(event) }
            let (unfitness, events) = care.poll(now)
            monitor.note(unfitness == nil ? .running : .paused, unfitness)
            for event in events { log.log(event) }
        }
    }

    private func drain(_ gateway: Gateway, _ server: HTTPCallServer, _ broker: GatewayBroker) {
        monitor.note(.stopping)
        server.beginDrain()
        let begin = ContinuousClock.now
        while ContinuousClock.now - begin < Self.acceptTime { attendEnd(gateway) }
        server.stopAccepting()
        let budget = Duration.milliseconds(configuration.gateway.deadlineMilliseconds) + Self.grace
        while server.counts.openCalls > 0, ContinuousClock.now - begin < budget { attendEnd(gateway) }
        gateway.close()
        server.stop()
        broker.stop()
        let counts = gateway.counts
        let answered = counts.answers.reduce(0) { $0 + $1.value }
        log.log(.info, .stopped, "stopped: \(answered) calls answered, \(counts.deadlines) of them too late")
    }

    private func attendEnd(_ gateway: Gateway) {
        ProgramShell.pause(Self.pause)
        gateway.poll()
        monitor.note(.stopping)
    }
}

/// The work of a running gateway, several times a second: deadlines, changed files, brokers and topics.
package struct GatewayCare {
    private let gateway: Gateway
    private let watch: ReloadWatch<LoadedGateway>
    private let brokers: TopicsWatch
    private var reporter: GatewayReporter

    /// - Parameter replies: the topic of replies; nil = the gateway reads results and tokens.
    package init(_ gateway: Gateway, _ watch: ReloadWatch<LoadedGateway>, _ brokers: TopicsWatch, replies: String?) {
        (self.gateway, self.watch, self.brokers) = (gateway, watch, brokers)
        reporter = GatewayReporter(replies: replies)
    }

    /// - Parameter now: milliseconds of a clock that never goes back.
    /// - Returns: why the gateway is not fit, nil = it is; and what its log must say.
    package mutating func poll(_ now: @escaping @Sendable () -> Int64) -> (unfitness: String?, events: [LogEvent]) {
        gateway.poll()
        watch.poll()
        brokers.poll(now: now)
        gateway.note(hindrance: brokers.hindrance(now: now()))
        let unfitness = gateway.unfitness
        return (unfitness, reporter.poll(unfitness, gateway.counts, unknown: gateway.takeUnknown()))
    }
}
