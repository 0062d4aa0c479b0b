internal import AppAttest
internal import AppCheck
internal import Broker
internal import DeviceLab
internal import Glibc
internal import Kafka
internal import Member
internal import Pipeline
internal import Reports
internal import Settings
internal import Streams
internal import Telemetry
internal import Threads
internal import Traffic

/// The whole path of a record without any set-up: an embedded broker, fake devices, the real worker loop, an account.
struct Demo {
    private static let timeBudget = Duration.seconds(60)
    private static let stockClients = 12
    /// The stock clients' time between two polls of the worker.
    private static let turn = Duration.milliseconds(90)

    let console: Console
    /// Takes the page of the risk metrics.
    let page: OutputFile?

    func run() throws -> Int32 {
        let isOver = StopFlag()
        ClientLog.route { line in
            // The embedded broker ends before its clients, and each of them would say so.
            guard !isOver.isSet else { return }
            try? Descriptor.write(Array("librdkafka, \(line.client): \(line.text)\n".utf8), to: STDERR_FILENO)
        }
        console.print("A lab authority, keys and a configuration are made, for this demo alone.")
        let directory = try Folder.makeTemporary("attest-worker-demo")
        defer { Folder.remove(directory) }
        try NewConfiguration.write(to: directory, mostServed: DemoRisk.mostServed)
        let loaded = try LoadedConfiguration.load(directory: directory)
        var configuration = loaded.configuration
        configuration.embeddedBroker = true
        let access = try BrokerAccess(configuration, instance: "demo")
        let partitions = try access.partitions().requests
        console.print("A broker inside this process, \(Int(partitions).counted("partition")) a topic.")
        console.print("It is librdkafka's mock broker: it shows the worker's loop at work and proves no transactions.")
        let start = EvaluationTime(milliseconds: WallClock.milliseconds() - 5_000)
        let traffic = DemoTraffic(
            ca: try NewConfiguration.authority(of: directory),
            app: configuration.registry.apps[0],
            start: start,
            topic: RequestTopic(murmur2: configuration.topics.requests, partitions: partitions)
        )
        try publish(traffic.items.map(\.record), keepsPartitions: true, access, configuration)
        let fleet = try stockFleet(directory, configuration, access, partitions)
        let notices = NoticeQueue()
        let web = try DemoGateway(
            loaded,
            ca: try NewConfiguration.authority(of: directory),
            clients: Self.stockClients,
            properties: readerProperties(access),
            partitions: partitions,
            say: notices.post
        )
        let risk = try risk(loaded, access, ca: try NewConfiguration.authority(of: directory), partitions, notices)
        let tally = try work(traffic.items.count, fleet, web, risk, loaded, access, partitions, notices)
        let calls = risk.close()
        let reader = DemoReader(
            properties: readerProperties(access),
            topics: configuration.topics,
            partitions: partitions
        )
        let deadLetters = tally.deadLettersTotal
        let outputs = try reader.read([.results: tally.requests - deadLetters, .deadLetters: deadLetters])
        var report = RiskReport(configuration.registry, limit: nil, since: nil)
        for event in try reader.events(untilRisk: risk.answers) { report.add(event) }
        isOver.set()
        // Until here the reader needs it.
        withExtendedLifetime(access) {}
        let code = DemoAccount(traffic: traffic, outputs: outputs, tally: tally, partitions: partitions)
            .print(on: console)
        let exchange = DemoExchange(fleet: fleet, keySet: loaded.keys.rings.tokens.jsonWebKeySet)
        let climb = DemoRiskAccount(risk.device, outputs: outputs, calls: calls, report: report)
        let codes = [code, exchange.print(on: console), web.print(on: console), climb.print(on: console)]
        if let page {
            try page.write(report.report(version: AttestWorker.version, source: "the demo's events").html)
            try page.close()
        }
        return codes.max() ?? ExitCode.failed
    }

    /// The fraud risk metric: the demo's own refresher, and Apple's double.
    private func risk(
        _ loaded: LoadedConfiguration,
        _ access: BrokerAccess,
        ca: LabCA,
        _ partitions: Int32,
        _ notices: NoticeQueue
    ) throws -> DemoRisk {
        var configuration = loaded.configuration
        configuration.kafkaProperties = access.settings.properties.map { (name: $0.0, value: $0.1) }
        return try DemoRisk(
            configuration,
            ca: ca,
            partitions: partitions,
            publish: { try publish($0, keepsPartitions: false, access, configuration) },
            say: notices.post
        )
    }

    /// Stock clients of the configuration's app, which wait for the worker's answers.
    private func stockFleet(
        _ directory: String,
        _ configuration: Configuration,
        _ access: BrokerAccess,
        _ partitions: Int32
    ) throws -> StockFleet {
        let link = try KafkaStockLink(
            properties: readerProperties(access),
            topics: configuration.topics,
            partitions: partitions
        )
        let members = StockFleet.members(
            configuration.registry.apps.compactMap(SimulatedApp.init),
            ca: try NewConfiguration.authority(of: directory),
            devices: Self.stockClients,
            seed: 2,
            wishes: [.session, .refresh, .limitedUse]
        )
        return StockFleet(members, link: link, prefix: "stock")
    }

    private func publish(
        _ records: [InboundRecord],
        keepsPartitions: Bool,
        _ access: BrokerAccess,
        _ configuration: Configuration
    ) throws {
        var options = CapturePublisher.Options()
        options.keepsPartitions = keepsPartitions
        let publisher = try CapturePublisher(
            properties: access.settings.properties,
            topic: configuration.topics.requests,
            options: options
        )
        var rest = records[...]
        let report = try publisher.publish {
            rest.popFirst().map {
                PublishRecord(key: $0.key, value: $0.value, headers: $0.headers, partition: $0.partition)
            }
        }
        guard report.isComplete else {
            throw CommandFault(
                "the embedded broker did not take the records: \(report.firstFailure ?? "no reason given")."
            )
        }
    }

    /// Runs the worker until every record has its outcome and every stock client its tokens.
    private func work(
        _ count: Int,
        _ fleet: StockFleet,
        _ web: DemoGateway,
        _ risk: DemoRisk,
        _ loaded: LoadedConfiguration,
        _ access: BrokerAccess,
        _ partitions: Int32,
        _ notices: NoticeQueue
    ) throws
        -> LoopTally
    {
        let rig = try LoopRig(loaded.configuration) { notices.post($0) }
        let loops = try rig.join(
            [LoopDriver(idleWaitMilliseconds: 50)],
            access.settings,
            .transaction,
            loaded.configuration.liveSettings(
                loaded.keys.rings,
                partitions: TopicPartitions(requests: partitions)
            ),
            options: [BatchLoop.Options()],
            notice: {
                let event = LogEvent($0)
                if event.level > .info { notices.post(event.message) }
            }
        )
        let deadline = ContinuousClock.now + Self.timeBudget
        var trouble: (any Error)?
        var meter = ProgressMeter("demo", unit: "request", total: count, console: console)
        defer { meter.finish() }
        try loops.run(stopping: {}) { tally, _ in
            // The group forms for seconds; a pipe needs no bar.
            if console.isTerminal { meter.update(min(count, tally.requests)) }
            for line in notices.take() { console.printError("\(AttestWorker.name): \(line)") }
            do { try serve(fleet, web, risk) } catch { trouble = error }
            let isServed = fleet.isDone && web.fleet.isDone && risk.isDone
            let isDone = isServed && tally.requests >= count + fleet.tally.calls + web.records + risk.records
            if isDone || trouble != nil || ContinuousClock.now > deadline { loops.stop() }
        }
        if let trouble { throw trouble }
        try fleet.close()
        try web.close()
        try loops.close()
        return loops.tally
    }

    /// Runs the clients on this thread; the worker goes on meanwhile on its own.
    private func serve(_ fleet: StockFleet, _ web: DemoGateway, _ risk: DemoRisk) throws {
        let end = ContinuousClock.now + Self.turn
        while ContinuousClock.now < end {
            guard !fleet.isDone || !web.fleet.isDone || !risk.isDone else { return }
            try risk.pass()
            // Once the worker answers, so that no call waits for the group's forming.
            let isAnswered = fleet.tally.sessions > 0
            if isAnswered, !web.fleet.isDone { try web.step(at: Self.now, milliseconds: fleet.isDone ? 5 : 0) }
            if !fleet.isDone { try fleet.step(at: Self.now, milliseconds: 5) }
        }
    }

    private static var now: EvaluationTime {
        EvaluationTime(milliseconds: WallClock.milliseconds())
    }

    private func readerProperties(_ access: BrokerAccess) -> [(String, String)] {
        access.settings.properties.map { $0.0 == "group.id" ? ($0.0, "demo-reader") : $0 }
    }
}

extension Command {
    static let demo = Command(
        name: "demo",
        summary: "fake devices, an embedded broker and the real worker, without any setup",
        options: [.value("--report", "FILE", "write the page of the demo's risk metrics as well")]
    ) { arguments, console in
        try Demo(console: console, page: try arguments.string("--report").map { try OutputFile($0) }).run()
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

extension RequestTopic {
    /// A topic whose producers choose partitions as Java clients do.
    init(murmur2 name: String, partitions: Int32) {
        self.init(name: name, partitions: partitions) { Partitioner.murmur2.partition(of: $0, count: partitions) }
    }
}
