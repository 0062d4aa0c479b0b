internal import AppAttest
internal import AppCheck
internal import Broker
internal import CommandFrame
internal import DeviceLab
internal import Glibc
internal import Kafka
internal import Member
internal import Pipeline
internal import Reports
internal import Run
internal import Settings
internal import Streams
internal import Telemetry
internal import Threads
internal import Traffic

/// The whole path of a record without any set-up: a broker, fake devices, the real worker loop, an account.
struct Demo {
    private static let timeBudget = Duration.seconds(60)
    private static let stockClients = 12
    /// The clients' time between two polls of the worker.
    private static let turn = Duration.milliseconds(90)

    let console: Console
    /// Takes the page of the risk metrics.
    let page: OutputFile?
    /// nil = the broker is inside this process.
    let site: DemoSite?

    /// Set where the broker ends before its clients, each of which would say so.
    private let isOver = StopFlag()
    private let stopped = StopFlag()
    private let notices = NoticeQueue()

    init(console: Console, page: OutputFile?, site: DemoSite? = nil) {
        (self.console, self.page, self.site) = (console, page, site)
    }

    func run() throws -> Int32 {
        ClientLog.route { [isOver] line in
            // The library retries while a new coordinator loads: nothing that the user must know or do.
            guard !isOver.isSet, line.facility != "GETPID" else { return }
            try? Descriptor.write(Array("librdkafka, \(line.client): \(line.text)\n".utf8), to: STDERR_FILENO)
        }
        console.print("Created a throwaway CA, keys and configuration for this demo.")
        let directory = try Folder.makeTemporary("attest-worker-demo")
        defer { Folder.remove(directory) }
        try NewConfiguration.write(
            to: directory,
            site?.configuration ?? NewConfiguration.Site(),
            mostServed: DemoRisk.mostServed
        )
        let loaded = try LoadedConfiguration.load(directory: directory)
        guard let site else { return try play(loaded, directory) }
        // Whatever ends the demo, its topics go.
        let shutdown = Shutdown { [stopped] _ in stopped.set() }
        defer { shutdown.cancel() }
        try site.prepare(loaded.configuration, console)
        let code = Result { try play(loaded, directory) }
        let isClean = site.remove(loaded.configuration, console)
        return isClean ? try code.get() : max(ExitCode.failed, try code.get())
    }

    private func play(_ loaded: LoadedConfiguration, _ directory: String) throws -> Int32 {
        var configuration = loaded.configuration
        configuration.embeddedBroker = site == nil
        let access = try BrokerAccess(configuration, instance: "demo")
        let partitions = try access.partitions().requests
        if site == nil {
            console.print("A broker inside this process, \(Int(partitions).counted("partition")) a topic.")
            console.print(
                "It is librdkafka's mock: it runs the real worker loop; mock brokers have no transactions."
            )
        }
        let topics = DemoTopics(
            configuration: configuration,
            properties: access.settings.properties,
            partitions: partitions
        )
        let ca = try NewConfiguration.authority(of: directory)
        let traffic = DemoTraffic(
            ca: ca,
            app: configuration.registry.apps[0],
            start: EvaluationTime(milliseconds: WallClock.milliseconds() - 5_000),
            topic: topics.topic
        )
        try topics.publish(traffic.items.map(\.record), keepsPartitions: true)
        let clients = try clients(loaded, topics, ca)
        let code = try work(traffic.items.count, clients, loaded, access, topics) { tally in
            let code = try account(traffic, clients, tally, loaded, topics)
            guard let site else { return (code, nil) }
            let requests = try topics.reader.requests(tally.requests)
            try site.explain(traffic, requests, loaded, directory: directory, console)
            return (code, try live(site, topics, ca))
        }
        // Until here the readers need it.
        withExtendedLifetime(access) {}
        return code
    }

    private func clients(_ loaded: LoadedConfiguration, _ topics: DemoTopics, _ ca: LabCA) throws -> DemoClients {
        let fleet = topics.fleet(of: Self.stockClients, seed: 2, ca: ca, link: try topics.link())
        let web = try DemoGateway(loaded, ca: ca, clients: Self.stockClients, topics: topics, say: notices.post)
        var configuration = topics.configuration
        configuration.kafkaProperties = topics.properties.map { (name: $0.0, value: $0.1) }
        let risk = try DemoRisk(
            configuration,
            ca: ca,
            partitions: topics.partitions,
            publish: { try topics.publish($0, keepsPartitions: false) },
            say: notices.post
        )
        return DemoClients(fleet: fleet, web: web, risk: risk)
    }

    /// Runs the worker until every record has its outcome and every client its tokens, and then for as long as devices
    /// go on.
    ///
    /// - Parameter account: tells what happened; devices that go on, if any do.
    private func work(
        _ count: Int,
        _ clients: DemoClients,
        _ loaded: LoadedConfiguration,
        _ access: BrokerAccess,
        _ topics: DemoTopics,
        _ account: (LoopTally) throws -> (Int32, DemoLive?)
    ) throws -> Int32 {
        let rig = try LoopRig(loaded.configuration, alarm: notices.post)
        let drivers = [LoopDriver(idleWaitMilliseconds: 50)]
        let loops = try join(drivers, rig, loaded, access, topics)
        let monitor = monitor(rig, drivers, loaded, access)
        let server = site == nil ? nil : monitor.serve(loaded.configuration, warn: notices.post)
        defer { withExtendedLifetime(server) {} }
        let deadline = ContinuousClock.now + Self.timeBudget
        var (code, live): (Int32?, DemoLive?) = (nil, nil)
        var trouble: (any Error)?
        var meter = ProgressMeter("demo", unit: "request", total: count, console: console)
        try loops.run(stopping: {}) { tally, _ in
            monitor.poll()
            for line in notices.take() { console.printError("\(AttestWorker.name): \(line)") }
            do {
                if let live {
                    if live.isOver || stopped.isSet { return loops.stop() }
                    return try live.step(at: WallClock.now())
                }
                // The group forms for seconds; a pipe needs no bar.
                if console.isTerminal { meter.update(min(count, tally.requests)) }
                try clients.serve(for: Self.turn)
                if stopped.isSet { return loops.stop() }
                let isDone = clients.isDone && tally.requests >= count + clients.records
                guard isDone || ContinuousClock.now > deadline else { return }
                meter.finish()
                (code, live) = try account(tally)
                if live == nil { loops.stop() }
            } catch {
                trouble = error
                loops.stop()
            }
        }
        if let trouble { throw trouble }
        try live?.close()
        isOver.set()
        try loops.close()
        return code ?? ExitCode.failed
    }

    private func join(
        _ drivers: [LoopDriver],
        _ rig: LoopRig,
        _ loaded: LoadedConfiguration,
        _ access: BrokerAccess,
        _ topics: DemoTopics
    ) throws -> LoopSet {
        try rig.join(
            drivers,
            access.settings,
            .transaction,
            loaded.configuration.liveSettings(
                loaded.keys.rings,
                partitions: TopicPartitions(requests: topics.partitions)
            ),
            options: [BatchLoop.Options()],
            notice: { [notices] in
                let event = LogEvent($0)
                if event.level > .info { notices.post(event.message) }
            }
        )
    }

    private func monitor(
        _ rig: LoopRig,
        _ drivers: [LoopDriver],
        _ loaded: LoadedConfiguration,
        _ access: BrokerAccess
    ) -> WorkerMonitor {
        let monitor = WorkerMonitor(
            loaded,
            version: AttestWorker.version,
            engine: rig.engine.name,
            group: access.settings.group
        )
        monitor.noteRunning(drivers, addLanes: rig.describe)
        return monitor
    }
}

/// Notices from the loop's queue for the thread that prints. The same line is not repeated.
final class NoticeQueue: Sendable {
    private let lines = Locked<(waiting: [String], last: String)>(([], ""))

    func post(_ line: String) {
        lines.withLock { state in
            guard line != state.last else { return }
            state.last = line
            state.waiting.append(line)
        }
    }

    func take() -> [String] {
        lines.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
