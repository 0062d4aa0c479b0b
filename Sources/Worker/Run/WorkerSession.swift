internal import AppAttest
internal import AppCheck
internal import Broker
internal import Crypto
internal import Glibc
internal import Kafka
internal import KafkaPorts
internal import Log
internal import Member
internal import Pipeline
internal import Settings
internal import Synchronization
internal import Telemetry

/// `run`: the worker on a broker, from the checks before the start until it has drained.
final class WorkerSession {
    private static let retryPauseMicroseconds: UInt32 = 1_000_000
    /// How long a broker may take to answer before the worker runs, in milliseconds.
    private static let firstPatience = 2_000
    private static let lastPatience = 10_000
    /// How long every broker may take to hear of a topic.
    private static let newsTime = Duration.seconds(5)
    /// The lanes verify so many in less time than a commit takes.
    private static let smallBatch = 256
    /// An idle poll ends with its first record; a stop waits for up to two such polls.
    private static let mostIdleMilliseconds = 250
    /// Time to end after a signal: longer than a commit takes, shorter than the five seconds that its sender may wait.
    private static let stopSeconds = 4.5
    private static let leavingEarly =
        "leaving without the last commit; nothing is lost: the next owner of the partitions does the work again"

    private let directory: String
    private let loaded: LoadedConfiguration
    private let console: Console
    private let log: EventLog
    private let access: BrokerAccess
    private let anchors: TrustAnchors
    private let engine: EngineChoice
    private let signing: SigningChoice
    private let monitor: WorkerMonitor
    private let service = ServiceManager.ofProcess

    private var configuration: Configuration { loaded.configuration }

    /// - Parameter engine: instead of worker.json's `engine.use`.
    init(directory: String, instance: String?, engine: EngineUse? = nil, console: Console) throws {
        self.directory = directory
        self.console = console
        loaded = try LoadedConfiguration.load(.ofClient(directory))
        let configuration = loaded.configuration
        log = EventLog.standard(configuration.log, isTerminal: console.isTerminal)
        anchors = try configuration.trustAnchors()
        var engineSettings = configuration.engine
        if let engine { engineSettings.use = engine }
        self.engine = try EngineChoice(engineSettings)
        signing = try SigningChoice(engineSettings)
        access = try BrokerAccess(configuration, instance: instance)
        monitor = WorkerMonitor(
            loaded,
            version: AttestWorker.version,
            engine: self.engine.name,
            group: access.settings.group
        )
        log.name(instance: access.settings.instanceName)
        monitor.watch(log)
    }

    /// Validates everything that needs no record consumed, the broker included.
    ///
    /// - Throws: ``CommandFault`` for a finding that keeps the worker from running.
    func check() throws {
        let findings = try CommandFault.explaining("cannot query the broker") {
            let found = try access.findings()
            return configuration.delivery == .exactlyOnce
                ? try found + access.transactionFindings(loops: configuration.loopCount) : found
        }
        try refuse(findings, print) { $0.severity == .problem }
        let partitions = try CommandFault.explaining("cannot query the broker") { try access.partitions() }
        sayInOrder(findings, partitions, print)
        sayDoubts(print)
    }

    /// Prints configuration warnings; errors were thrown on load.
    func checkConfiguration() {
        print(LogEvent(.info, .starting, "configuration, anchors and keys are in order; no broker was asked"))
        sayDoubts(print)
    }

    private func print(_ event: LogEvent) {
        guard event.level > .info else { return console.print(event.message) }
        console.printError("warning: \(event.message)")
    }

    /// - Throws: ``CommandFault`` for findings that keep the worker from running; then the others are said before.
    private func refuse(
        _ findings: [TopicFinding],
        _ say: (LogEvent) -> Void,
        isFatal: (TopicFinding) -> Bool
    ) throws(CommandFault) {
        let problems = findings.filter(isFatal).map(\.message)
        guard !problems.isEmpty else { return }
        sayDoubtful(findings.filter { !isFatal($0) }, say)
        throw CommandFault(problems.joined(separator: "; "))
    }

    private func sayDoubtful(_ findings: [TopicFinding], _ say: (LogEvent) -> Void) {
        if let address = access.embeddedAddress {
            say(LogEvent(.info, .starting, "the embedded broker listens on \(address)"))
        }
        for finding in findings { say(LogEvent(.warning, .configurationDoubtful, finding.message)) }
    }

    /// Says what was found, which keeps no worker from running.
    private func sayInOrder(_ findings: [TopicFinding], _ partitions: TopicPartitions, _ say: (LogEvent) -> Void) {
        sayDoubtful(findings, say)
        let count = partitions.requests
        say(
            LogEvent(
                .info,
                .starting,
                "configuration, anchors and topics are in order: \(Int(count).counted("partition"))"
            )
        )
    }

    /// Runs until a signal asks for the end, or the log cannot go on.
    ///
    /// - Throws: ``LoggedFault`` for what ends the worker: its sentence is the log's last line.
    func run() throws {
        ClientLog.route { [log] in log.log(LogEvent($0, quiet: LogEvent.ofConnections)) }
        defer { log.finish() }
        do { try work() } catch  where log.style != .terminal {
            log.log(.error, .stopped, AttestWorker.sentence(for: error))
            throw LoggedFault(exitCode: AttestWorker.exitCode(for: error))
        }
    }

    private func work() throws {
        let drivers = (0..<configuration.loopCount).map { _ in
            LoopDriver(idleWaitMilliseconds: min(configuration.batch.milliseconds, Self.mostIdleMilliseconds))
        }
        let (stopped, begun) = (StopFlag(), StopFlag())
        let shutdown = shutdown(drivers, stopped, begun)
        let hangup = Hangup()
        defer {
            shutdown.cancel()
            hangup.cancel()
        }
        let server = monitor.serve(configuration) { [log] in log.log(.warning, .metricsUnserved, $0) }
        let feed = sayReady()
        defer { withExtendedLifetime((server, feed)) {} }
        guard let partitions = try waitForBroker(stopped) else { return }
        begun.set()
        sayMode()
        sayDoubts(log.log)
        let alarm: @Sendable (String) -> Void = { [log] in log.log(.error, .engineDisagrees, "ALARM: \($0)") }
        let factory = LaneFactory(
            lanes: configuration.lanes,
            engine: engine,
            anchors: anchors,
            limits: configuration.pipelineSettings(loaded.keys.rings).objectLimits,
            alarm: alarm
        )
        log.log(.info, .starting, "signatures are verified by \(engine.text), on \(factory.count.counted("lane"))")
        let library = signing.make(engine, factory.watch, alarm: alarm)
        let signer = loaded.keys.rings.tokens.signer(library)
        if let text = signing.text(signer, loaded.keys.rings.tokens) {
            log.log(.info, .starting, "tokens are signed by \(text)")
        }
        let keys = loaded.keys.rings
        let settings = configuration.liveSettings(keys, signer: signer, partitions: partitions)
        access.settings.isStopping = { stopped.isSet }
        access.settings.statisticsMilliseconds = monitor.statisticsMilliseconds(configuration)
        let restored = RestoreCount()
        let options = try options(of: drivers.count, factory)
        let members = try openMembers(drivers, restored, partitions.requests)
        let loops = LoopSet(
            zip(drivers, zip(members, options)).map { driver, parts in
                LoopSet.Member(
                    driver: driver,
                    loop: loop(driver, parts, factory, settings),
                    logSight: parts.0.sight,
                    close: { driver.onQueue(parts.0.close) }
                )
            }
        )
        let watch = watch(loops, hangup, library, partitions)
        monitor.noteRunning(drivers, addLanes: factory.describe)
        do {
            try attend(loops, stopped, LaneWatch(factory.works), watch, restored)
        } catch let fault as KafkaFault {
            try? loops.close()
            throw CommandFault("the broker ended the work: \(fault).")
        } catch let fault as MissingSealingKeys {
            try? loops.close()
            throw CommandFault("\(fault).")
        } catch let fault as RefusedRecordFault {
            try? loops.close()
            throw CommandFault("\(fault); raise max.message.bytes of the dead-letter topic.")
        }
        if loops.endedWithoutCommit { log.log(.warning, .stopping, Self.leavingEarly) }
        try loops.close()
        let tally = loops.tally
        if let line = RunAccount.withoutEvents(tally) { log.log(.info, .stopped, line) }
        log.log(LogEvent(.info, .stopped, RunAccount.line(tally), counts: RunAccount.counts(tally)))
    }

    private func loop(
        _ driver: LoopDriver,
        _ parts: (member: HostedMember, options: BatchLoop.Options),
        _ factory: LaneFactory,
        _ settings: PipelineSettings
    ) -> BatchLoop {
        BatchLoop(
            log: parts.member.roles,
            settings: settings,
            lanes: factory.lanes,
            options: parts.options,
            post: driver.post,
            wallClock: { EvaluationTime(milliseconds: WallClock.milliseconds()) },
            uptime: Uptime.milliseconds,
            notice: { [log] in log.log(LogEvent($0)) }
        )
    }

    /// The options of each loop. The crash marks are the instance's, however many loops it has.
    private func options(of count: Int, _ factory: LaneFactory) throws -> [BatchLoop.Options] {
        let solitude = Solitude(loops: count)
        var options = solitude.seats.map { seat in
            var options = BatchLoop.Options()
            options.meter = factory.stages
            options.batch = configuration.batch
            options.smallBatch = Self.smallBatch
            options.seat = seat
            return options
        }
        let marks = CrashMarks.begin(
            directory: directory,
            stableID: try access.settings.stableID(),
            topic: configuration.topics.requests,
            works: factory.works + options.map(\.work),
            tell: { log.log(.warning, .crashFound, $0) }
        )
        for index in options.indices { options[index].heed(marks) }
        return options
    }

    /// Runs the loops and checks on them ten times a second.
    private func attend(
        _ loops: LoopSet,
        _ stopped: StopFlag,
        _ watched: LaneWatch,
        _ watch: ConfigurationWatch,
        _ restored: RestoreCount
    ) throws {
        var lanes = watched
        var restoring = RestoreMeter(log: log)
        var sessions = SessionTokenMeter(log: log, limits: configuration.limits)
        var news = RunNews(log: log, monitor: monitor)
        // The others' calls to the broker then give up soon, too.
        try loops.run(stopping: stopped.set) { tally, restore in
            watch.poll()
            monitor.look()
            restoring.update(restore, total: restored.total)
            sessions.update(tally)
            news.look(tally)
            if let lockout = news.lockout {
                log.log(.error, .stopped, lockout)
                // At once: no broker is connected that an orderly exit could tell.
                leave(with: ExitCode.failed)
            }
            guard let hung = lanes.look() else { return }
            log.log(.error, .laneHung, hung.sentence(topic: configuration.topics.requests))
            // At once: an orderly exit would wait for the thread that hangs.
            leave(with: ExitCode.failed)
        }
    }

    /// Exits at once, after flushing the log.
    private func leave(with code: Int32) -> Never {
        log.finish()
        _exit(code)
    }

    /// Handles the first signal: before `begun` is set nothing was begun; later, batches in flight are finished.
    private func shutdown(_ drivers: [LoopDriver], _ stopped: StopFlag, _ begun: StopFlag) -> Shutdown {
        Shutdown { [monitor, log, service] shutdown in
            service.say(.stopping)
            guard begun.isSet else {
                // The first question to the broker may take seconds, and nothing depends on its answer.
                log.log(.info, .stopped, "stop requested before the broker answered: nothing was started")
                log.finish()
                _exit(ExitCode.done)
            }
            log.log(.info, .stopping, "stop requested: finishing the work in flight first")
            stopped.set()
            monitor.noteStopping()
            for driver in drivers { driver.stop() }
            shutdown.limit(seconds: Self.stopSeconds) {
                log.log(.error, .stopped, "the broker does not answer: \(Self.leavingEarly)")
                log.finish()
            }
        }
    }

    private func openMembers(
        _ drivers: [LoopDriver],
        _ restored: RestoreCount,
        _ partitions: Int32
    ) throws -> [HostedMember] {
        access.settings.partitions = partitions
        let trouble: @Sendable (KafkaFault) -> Void = { [log] in log.log(LogEvent($0)) }
        return try zip(drivers, access.settings.members(drivers.count)).map { driver, settings in
            try driver.onQueue {
                try HostedMember(
                    configuration.delivery == .exactlyOnce ? .transaction : .atLeastOnce,
                    settings,
                    loop: driver.queue,
                    trouble: trouble,
                    restored: restored.add,
                    wake: driver.wake
                )
            }
        }
    }

    /// Hands changed apps and keys to the loops between two batches.
    private func watch(
        _ loops: LoopSet,
        _ hangup: Hangup,
        _ library: SigningLibrary?,
        _ partitions: TopicPartitions
    ) -> ConfigurationWatch {
        ConfigurationWatch(
            directory: directory,
            running: loaded,
            isAsked: hangup.take,
            apply: { configuration, keys, taken in
                let signer = keys.tokens.signer(library)
                let settings = configuration.liveSettings(keys, signer: signer, partitions: partitions)
                loops.replace(settings) { missing in taken(missing?.description) }
            },
            say: log.log,
            reloaded: monitor.note
        )
    }

    /// All that needs no broker is in order: a service manager need not wait for one.
    private func sayReady() -> WatchdogFeed? {
        service.say(.ready, status: "instance \(access.settings.instanceName)")
        return WatchdogFeed(service, silence: { [monitor] in monitor.silence }, most: Endpoints.mostSilence)
    }

    private func sayDoubts(_ say: (LogEvent) -> Void) {
        // The embedded broker makes it a trial run, whatever else is configured.
        let lab = configuration.embeddedBroker ? [] : LabAnchors.warnings(configuration.anchors)
        for line in loaded.warnings(now: WallClock.milliseconds()) + lab {
            say(LogEvent(.warning, .configurationDoubtful, line))
        }
    }

    /// Waits until the broker answers; then the topics must match.
    ///
    /// - Returns: their partitions; nil when a signal came first.
    private func waitForBroker(_ stopped: StopFlag) throws -> TopicPartitions? {
        var isAway = false
        monitor.noteWaiting()
        // Short at first: a user soon sees that the broker is absent, and a signal does not wait long.
        var patience = Self.firstPatience
        let newsLimit = ContinuousClock.now + Self.newsTime
        while !stopped.isSet {
            do {
                let findings = try access.findings(timeoutMilliseconds: patience)
                if findings.contains(where: \.mayPass), ContinuousClock.now < newsLimit {
                    usleep(Self.retryPauseMicroseconds)
                    continue
                }
                try refuse(findings, log.log) { $0.severity == .problem && $0.endsRun }
                // A broker that goes away by now is waited for as well, and one that has not heard of the topics yet.
                let partitions: TopicPartitions
                do { partitions = try access.partitions() } catch is CommandFault where ContinuousClock.now < newsLimit
                {
                    usleep(Self.retryPauseMicroseconds)
                    continue
                }
                if isAway { log.log(.info, .brokerBack, "the broker answers") }
                sayInOrder(findings, partitions, log.log)
                return stopped.isSet ? nil : partitions
            } catch let fault as KafkaFault where fault.isRecoverable {
                if !isAway { log.log(.warning, .brokerWaiting, "waiting for the broker: \(fault.message)") }
                isAway = true
                patience = min(patience * 2, Self.lastPatience)
                usleep(Self.retryPauseMicroseconds)
            }
        }
        return nil
    }

    private func sayMode() {
        let count = configuration.loopCount
        if count > 1 {
            let name = access.settings.instanceName
            log.log(.info, .starting, "\(count.counted("loop")): instances \(name)-0 to \(name)-\(count - 1)")
        }
        if let line = access.passingName { log.log(.warning, .configurationDoubtful, line) }
        guard configuration.delivery == .atLeastOnce else { return }
        log.log(
            .warning,
            .configurationDoubtful,
            "delivery is at-least-once: after a fault requests may be answered twice, though no counter moves twice"
        )
    }
}

/// Set once by a signal, read by the threads that wait.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    func set() { flag.store(true, ordering: .relaxed) }
    var isSet: Bool { flag.load(ordering: .relaxed) }
}
