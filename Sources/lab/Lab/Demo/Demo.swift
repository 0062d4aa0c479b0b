internal import AppAttest
internal import AppCheck
internal import Broker
internal import CommandFrame
internal import Glibc
internal import Kafka
internal import Member
internal import Pipeline
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
        let stage = try DemoStage(loaded, directory: directory, embedsBroker: site == nil)
        if site == nil {
            console.print("A broker inside this process, \(Int(stage.partitions).counted("partition")) a topic.")
            console.print(
                "It is librdkafka's mock: it runs the real worker loop; mock brokers have no transactions."
            )
        }
        let traffic = DemoTraffic(
            ca: stage.ca,
            app: stage.configuration.registry.apps[0],
            start: EvaluationTime(milliseconds: WallClock.milliseconds() - 5_000),
            topic: stage.topic
        )
        try stage.publish(traffic.items.map(\.record), keepsPartitions: true)
        let clients = DemoClients(
            fleet: stage.fleet(of: Self.stockClients, seed: 2, link: try stage.link()),
            web: try DemoGateway(stage, clients: Self.stockClients, say: notices.post),
            risk: try DemoRisk(stage, say: notices.post)
        )
        let code = try work(traffic.items.count, clients, stage) { tally in
            let code = try account(traffic, clients, tally, stage)
            guard let site else { return (code, nil) }
            let requests = try stage.requests(tally.requests)
            try site.explain(traffic, requests, loaded, directory: directory, console)
            return (code, try live(site, stage))
        }
        // Until here the readers need its broker.
        withExtendedLifetime(stage) {}
        return code
    }

    /// Runs the worker until every record has its outcome and every client its tokens, and then for as long as devices
    /// go on.
    ///
    /// - Parameter account: tells what happened; devices that go on, if any do.
    private func work(
        _ count: Int,
        _ clients: DemoClients,
        _ stage: DemoStage,
        _ account: (LoopTally) throws -> (Int32, DemoLive?)
    ) throws -> Int32 {
        let configuration = stage.loaded.configuration
        let rig = try LoopRig(configuration, alarm: notices.post)
        let drivers = [LoopDriver(idleWaitMilliseconds: 50)]
        let loops = try join(drivers, rig, stage)
        let (version, group) = (AttestWorker.version, stage.access.settings.group)
        let monitor = WorkerMonitor(stage.loaded, version: version, engine: rig.engine.name, group: group)
        monitor.noteRunning(drivers, addLanes: rig.describe)
        let server = site == nil ? nil : monitor.serve(configuration, warn: notices.post)
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

    private func join(_ drivers: [LoopDriver], _ rig: LoopRig, _ stage: DemoStage) throws -> LoopSet {
        try rig.join(
            drivers,
            stage.access.settings,
            .transaction,
            stage.loaded.configuration.liveSettings(
                stage.loaded.keys.rings,
                partitions: TopicPartitions(requests: stage.partitions)
            ),
            options: [BatchLoop.Options()],
            notice: { [notices] in
                let event = LogEvent($0)
                if event.level > .info { notices.post(event.message) }
            }
        )
    }
}

/// The demo's clients: stock clients at the topics and at a gateway, and the device whose risk metric climbs.
struct DemoClients {
    let fleet: StockFleet
    let web: DemoGateway
    let risk: DemoRisk

    var isDone: Bool { fleet.isDone && web.fleet.isDone && risk.isDone }

    /// Records that they wrote to the requests topic.
    var records: Int { fleet.tally.calls + web.records + risk.records }

    /// Serves them on this thread for so long; the worker goes on meanwhile on its own.
    func serve(for turn: Duration) throws {
        let end = ContinuousClock.now + turn
        while ContinuousClock.now < end, !isDone {
            try risk.pass()
            // Once the worker answers, so that no call waits for the group's forming.
            let isAnswered = fleet.tally.sessions > 0
            if isAnswered, !web.fleet.isDone { try web.step(at: WallClock.now(), milliseconds: fleet.isDone ? 5 : 0) }
            if !fleet.isDone { try fleet.step(at: WallClock.now(), milliseconds: 5) }
        }
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
