internal import AppAttest
internal import Broker
package import CommandFrame
internal import Crypto
internal import Gateway
internal import Kafka
internal import KafkaPorts
internal import Risk
internal import Run
internal import Settings
internal import Telemetry

/// `refresh-receipts`: exchanges receipts at Apple, from the checks before the start until it has drained.
package final class RefreshSession {
    /// How long calls under way, and requests that are being written, are waited for after a signal.
    private static let drainMilliseconds: Int64 = 10_000

    private let instance: String
    private let files: ReadFiles<LoadedRefresher>
    private let broker: RefreshBroker
    private let judge: AppleReceipts
    private let makeCaller: (LoadedRefresher) throws -> any CallPort
    private let shell: ProgramShell
    private let console: Console
    private let monitor = RefreshMonitor(version: AttestWorker.version)

    private var loaded: LoadedRefresher { files.loaded }
    private var log: EventLog { shell.log }

    /// - Parameter makeCaller: of the calls to Apple.
    package init(
        directory: String,
        instance: String,
        console: Console,
        makeCaller: @escaping (LoadedRefresher) throws -> any CallPort
    ) throws {
        (self.instance, self.console, self.makeCaller) = (instance, console, makeCaller)
        files = try ReadFiles(in: directory)
        let configuration = files.loaded.configuration
        broker = try RefreshBroker(configuration, instance: instance)
        let engine = try EngineChoice(configuration.engine)
        shell = ProgramShell(configuration.log, console)
        judge = AppleReceipts(
            ObjectVerifier(anchors: try configuration.trustAnchors()),
            engine: engine.make(engine.watch(alarm: shell.alarm))
        )
        shell.log.name(instance: instance)
    }

    /// Validates what can be without a receipt: files, topics, the rights to read, and the way to Apple.
    package func check() throws {
        let partitions = try CommandFault.explaining("cannot query the broker") {
            try BrokerRetry.askEarly {
                let partitions = try broker.partitions()
                _ = try broker.linesWithoutOffsets(partitions)
                return partitions
            }
        }
        let reach = AppleReach(loaded.configuration)
        try reach.check()
        for line in loaded.warnings { console.printError("warning: \(line)") }
        let count = Int(partitions).counted("partition")
        let apple = reach.environments.isEmpty ? "Apple was not called" : "Apple answers, and no receipt was sent"
        console.print("the refresher's configuration, keys and topics are in order: \(count); \(apple)")
    }

    /// Runs until a signal asks for the end.
    package func run() throws { try shell.run(work) }

    private func work() throws {
        let stop: @Sendable (Shutdown) -> Void = { [log, stopped = shell.stopped] _ in
            log.log(.info, .stopping, "stop requested: calls under way are waited for")
            stopped.set()
        }
        let name = "refresh-receipts \(instance)"
        try shell.attend(monitor, loaded.configuration, name: name, stop: stop) { reload in
            shell.warn(loaded.warnings)
            var renewal = broker.renewal
            guard let partitions = try shell.waitForBroker(monitor, ask: askPartitions) else {
                return log.log(.info, .stopped, "stop requested before the broker answered: nothing was called")
            }
            let inbox = RefreshInbox()
            let writer = broker.writer(partitions: partitions) { [log] in log.log(LogEvent($0)) }
            try writer.start { inbox.put(.reports($0)) }
            defer { writer.stop() }
            let loop = try makeLoop(partitions, writer, inbox)
            let apps = loaded.rules.apps.count.counted("app")
            let count = Int(partitions).counted("partition")
            log.log(.info, .starting, "\(name) reads \(broker.receipts): \(apps), \(count)")
            try attend(loop, inbox, writer, reload, &renewal)
            try drain(loop, inbox)
        }
    }

    private func askPartitions() throws -> Int32 {
        let partitions = try broker.partitions()
        for line in try broker.linesWithoutOffsets(partitions) {
            let begin = "it begins at the oldest receipt, as at a first start"
            log.log(.warning, .riskOffsets, "line \(line.name) has no committed offsets: \(begin)")
        }
        return partitions
    }

    private func makeLoop(
        _ partitions: Int32,
        _ writer: RequestWriter,
        _ inbox: RefreshInbox
    ) throws -> RefreshLoop {
        let say: (LogEvent) -> Void = { [log] in log.log($0) }
        return RefreshLoop(
            RefreshDriver(loaded.rules, partitions: Int(partitions), judge: judge),
            groups: try LineGroup.all(partitions: partitions, say: say) { [broker] line throws(KafkaFault) in
                try broker.consumer(line)
            },
            caller: try makeCaller(loaded),
            outlet: writer,
            topic: broker.topics.requests,
            inbox: inbox,
            monitor: monitor,
            say: say
        )
    }

    /// Works until a signal asks for the end.
    private func attend(
        _ loop: RefreshLoop,
        _ inbox: RefreshInbox,
        _ writer: RequestWriter,
        _ reload: ReloadSignal,
        _ renewal: inout ClientRenewal
    ) throws {
        let watch = ReloadWatch(
            files,
            isAsked: reload.take,
            apply: loop.reload,
            say: log.log,
            reloaded: monitor.note(reloaded:)
        )
        while !shell.stopped.isSet {
            watch.poll()
            _ = renewal.poll(log.log)
            let now = Uptime.milliseconds() ?? 0
            let pause = try loop.pass(at: WallClock.now(), now: now)
            for event in monitor.poll(writer.connections, at: now) { log.log(event) }
            let unfitness = loop.unfitness
            monitor.note(unfitness == nil ? .running : .paused, unfitness)
            log.tick()
            inbox.wait(milliseconds: pause)
        }
    }

    /// Begins no call any more, waits for those under way while it serves the groups, and leaves them.
    private func drain(_ loop: RefreshLoop, _ inbox: RefreshInbox) throws {
        let begin = Uptime.milliseconds() ?? 0
        var now = begin
        while loop.openCount > 0, now - begin < Self.drainMilliseconds {
            monitor.note(.stopping)
            let pause = try loop.pass(at: WallClock.now(), now: now, isStopping: true)
            inbox.wait(milliseconds: pause)
            now = Uptime.milliseconds() ?? begin + Self.drainMilliseconds
        }
        loop.close()
        let left = loop.openCount
        let rest = left == 0 ? "" : "; \(left.counted("call")) had not ended: their receipts are exchanged again"
        log.log(.info, .stopped, "stopped: \(loop.verifiedCount.counted("receipt")) exchanged\(rest)")
    }
}
