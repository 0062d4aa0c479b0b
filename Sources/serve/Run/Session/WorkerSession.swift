internal import AppCheck
internal import Broker
package import CommandFrame
internal import Crypto
internal import Glibc
internal import Kafka
internal import KafkaPorts
internal import Member
internal import Pipeline
package import Settings
internal import Streams
internal import Telemetry

/// `run`: the worker on a broker, from the checks before the start until it has drained.
package final class WorkerSession {
    /// The time a broker has to answer before the worker runs, in milliseconds: short at first, so that a user soon sees
    /// that the broker is absent, and a signal does not wait long.
    private static let firstTimeout = 2_000
    static let lastTimeout = 10_000
    /// An idle poll ends with its first record; a stop waits for up to two such polls.
    private static let mostIdleMilliseconds = 250
    /// Time to end after a signal: longer than a commit takes, shorter than the five seconds that its sender may wait.
    private static let stopSeconds = 4.5
    private static let leavingEarly =
        "leaving without the last commit; nothing is lost: the next owner of the partitions does the work again"

    let directory: String
    let loaded: LoadedConfiguration
    let console: Console
    let shell: ProgramShell
    let access: BrokerAccess
    private let rig: LoopRig
    private let signing: SigningChoice
    private let monitor: WorkerMonitor
    private let renewal: ClientRenewal
    /// What the start found about the topics.
    private var found: [TopicFinding] = []

    var configuration: Configuration { loaded.configuration }
    var log: EventLog { shell.log }

    /// - Parameters:
    ///   - engine: instead of worker.json's `engine.use`.
    ///   - isCheck: each key must answer.
    package init(
        directory: String,
        instance: String?,
        engine: EngineUse? = nil,
        isCheck: Bool = false,
        console: Console
    ) throws {
        (self.directory, self.console) = (directory, console)
        loaded = try LoadedConfiguration.load(.ofClient(directory), absentKeys: isCheck ? .refused : .silent)
        try loaded.configuration.checkHasApp()
        var configuration = loaded.configuration
        if let engine { configuration.engine.use = engine }
        let shell = ProgramShell(configuration.log, console)
        rig = try LoopRig(configuration, alarm: shell.alarm)
        signing = try SigningChoice(configuration.engine)
        access = try BrokerAccess(configuration, instance: instance)
        renewal = ClientRenewal(access.settings.properties)
        shell.log.name(instance: access.settings.instanceName)
        self.shell = shell
        monitor = WorkerMonitor(
            loaded,
            version: AttestWorker.version,
            engine: rig.engine.name,
            group: access.settings.group
        )
        monitor.watch(shell.log)
    }

    /// Runs until a signal asks for the end, or the log cannot go on.
    ///
    /// - Throws: ``SilentEnd`` for what ends the worker: its sentence is the log's last line.
    package func run() throws { try shell.run(work) }

    private func work() throws {
        let drivers = (0..<configuration.loopCount).map { _ in
            LoopDriver(idleWaitMilliseconds: min(configuration.batch.milliseconds, Self.mostIdleMilliseconds))
        }
        let begun = StopFlag()
        let name = "instance \(access.settings.instanceName)"
        try shell.attend(monitor, configuration, name: name, stop: stop(drivers, begun)) { reload in
            let keys = loaded.keys
            let held = HeldKeyWatch(keys.rings.tokens, silent: keys.silent, reload: reload.ask, say: log.log)
            held.start()
            guard let partitions = try waitForBroker() else { return }
            begun.set()
            sayMode()
            shell.warn(doubts)
            let lanes = rig.count.counted("lane")
            log.log(.info, .starting, "signatures are verified by \(rig.engine.text), on \(lanes)")
            let (library, signer) = signer()
            let settings = configuration.liveSettings(loaded.keys.rings, signer: signer, partitions: partitions)
            let restored = RestoreCount()
            let loops = try join(drivers, settings, partitions.requests, restored)
            let watch = watch(loops, reload, library, partitions, held)
            monitor.noteRunning(drivers, addLanes: rig.describe)
            do { try attend(loops, watch, restored) } catch {
                guard let sentence = Self.sentence(ofEnd: error) else { throw error }
                try? loops.close()
                throw CommandFault(sentence)
            }
            try close(loops)
        }
    }

    /// Waits until the broker answers; then the topics must match.
    ///
    /// - Returns: their partitions; nil when a signal came first.
    private func waitForBroker() throws -> TopicPartitions? {
        monitor.noteWaiting()
        var timeout = Self.firstTimeout
        typealias Answer = ([TopicFinding], TopicPartitions)
        let answer = try shell.waitForBroker(pause: .seconds(1)) { isEarly -> Answer? in
            let findings = try access.findings(timeout)
            if findings.contains(where: \.mayPass), isEarly() { return nil }
            try refuse(findings, log.log) { $0.severity == .problem && $0.endsRun }
            // A broker that goes away by now is waited for as well, and one that has not heard of the topics yet.
            do { return (findings, try access.partitions()) } catch is CommandFault where isEarly() { return nil }
        } missed: { _ in
            timeout = min(timeout * 2, Self.lastTimeout)
        }
        guard let (findings, partitions) = answer else { return nil }
        sayInOrder(findings, partitions, log.log)
        found = findings
        return shell.stopped.isSet ? nil : partitions
    }

    private func sayMode() {
        let count = configuration.loopCount
        if count > 1 {
            let name = access.settings.instanceName
            log.log(.info, .starting, "\(count.counted("loop")): instances \(name)-0 to \(name)-\(count - 1)")
        }
        if let line = access.ephemeralName { shell.warn([line]) }
        guard configuration.delivery == .atLeastOnce else { return }
        shell.warn([
            "delivery is at-least-once: after a fault requests may be answered twice, though no counter moves twice"
        ])
    }

    /// The signer of tokens, with its library.
    private func signer() -> (SigningLibrary?, TokenSigner) {
        let tokens = loaded.keys.rings.tokens
        let library = signing.make(rig.engine, rig.watch, alarm: shell.alarm)
        let signer = tokens.signer(library)
        if let text = signing.text(signer, tokens) { log.log(.info, .starting, "tokens are signed by \(text)") }
        return (library, signer)
    }

    private func join(
        _ drivers: [LoopDriver],
        _ settings: PipelineSettings,
        _ partitions: Int32,
        _ restored: RestoreCount
    ) throws -> LoopSet {
        access.settings.isStopping = { [stopped = shell.stopped] in stopped.isSet }
        access.settings.statisticsMilliseconds = monitor.statisticsMilliseconds(configuration)
        access.settings.partitions = partitions
        access.settings.standbyLoops = configuration.state.standby ? drivers.count : nil
        var options = rig.options(loops: drivers.count, batch: configuration.batch)
        // The crash marks are the instance's, however many loops it has.
        let marks = CrashMarks.begin(
            directory: directory,
            stableID: try access.settings.stableID(),
            topic: configuration.topics.requests,
            works: rig.works + options.map(\.work),
            tell: { log.log(.warning, .crashFound, $0) }
        )
        // Records that earlier processes crashed at are treated with care, and forgotten once they are dealt with.
        if let marks {
            for index in options.indices {
                options[index].suspects = marks.suspects
                options[index].passed = marks.forget
            }
        }
        return try rig.join(
            drivers,
            access.settings,
            configuration.delivery == .exactlyOnce ? .transaction : .atLeastOnce,
            settings,
            options: options,
            snapshots: snapshots(in: marks?.folder),
            restored: restored.add,
            trouble: { [log] in log.log(LogEvent($0)) },
            notice: { [log] in log.log(LogEvent($0)) }
        )
    }

    /// The copies of the ledgers, where they are wanted and possible.
    ///
    /// - Parameter folder: the instance's own; nil = there is none.
    private func snapshots(in folder: String?) -> SnapshotFolder? {
        guard configuration.state.snapshots else { return nil }
        let rules = folder.flatMap { folder in
            access.snapshotRules(folder, configuration.state) { [log] notice in log.log(LogEvent(notice)) }
        }
        guard let rules else {
            let cause = folder == nil ? "there is no folder for them" : "the cluster has no id"
            log.log(.warning, .snapshotFailed, "no copies of the ledgers are kept: \(cause)")
            return nil
        }
        let snapshots = SnapshotFolder(rules)
        monitor.note(copies: { snapshots.reports })
        return snapshots
    }

    /// Hands changed apps and keys to the loops between two batches.
    private func watch(
        _ loops: LoopSet,
        _ reload: ReloadSignal,
        _ library: SigningLibrary?,
        _ partitions: TopicPartitions,
        _ held: HeldKeyWatch
    ) -> ConfigurationWatch {
        ConfigurationWatch(
            directory: directory,
            running: loaded,
            isAsked: reload.take,
            apply: { configuration, keys, taken in
                let signer = keys.tokens.signer(library)
                let settings = configuration.liveSettings(keys, signer: signer, partitions: partitions)
                loops.replace(settings) { taken($0?.description) }
            },
            say: log.log,
            reloaded: { [monitor] loaded in
                monitor.note(loaded)
                if let keys = loaded?.keys { held.use(keys.rings.tokens, silent: keys.silent) }
            }
        )
    }

    // MARK: The run and its end

    /// Runs the loops and checks on them ten times a second.
    private func attend(
        _ loops: LoopSet,
        _ watch: ConfigurationWatch,
        _ restored: RestoreCount
    ) throws {
        var lanes = LaneWatch(rig.works)
        var restoring = RestoreMeter(log: log)
        var sessions = SessionTokenMeter(log: log, limits: configuration.limits)
        var reporter = RunReporter(log: log, monitor: monitor)
        var renewal = renewal
        let ask = access.findings
        let topics = TopicWatch(known: found, ask: { try ask(Self.lastTimeout) }) { [log] finding in
            log.log(finding.severity == .problem ? .error : .warning, .topicsUnfit, finding.message)
        }
        // The others' calls to the broker then give up soon, too.
        try loops.run(stopping: shell.stopped.set) { tally, restore in
            watch.poll()
            if renewal.poll(log.log) { loops.renewClients() }
            monitor.poll()
            topics.poll()
            restoring.update(restore, total: restored.total)
            sessions.update(tally)
            reporter.poll(tally)
            // No broker is connected that an orderly exit could tell.
            if let lockout = reporter.lockout { leave(.stopped, lockout) }
            // An orderly exit would wait for the thread that hangs.
            if let hung = lanes.poll() { leave(.laneHung, hung.sentence(topic: configuration.topics.requests)) }
        }
    }

    /// Exits at once, after flushing the log.
    private func leave(_ name: LogEvent.Name, _ sentence: String) -> Never {
        log.log(.error, name, sentence)
        log.finish()
        _exit(ExitCode.failed)
    }

    /// The sentence of a fault that ends the work; nil for others.
    private static func sentence(ofEnd fault: any Error) -> String? {
        switch fault {
        case let fault as KafkaFault: "the broker ended the work: \(fault)."
        case let fault as MissingSealingKeys: "\(fault)."
        case let fault as RefusedRecordFault: "\(fault); raise max.message.bytes of the dead-letter topic."
        default: nil
        }
    }

    private func close(_ loops: LoopSet) throws {
        if loops.endedWithoutCommit { log.log(.warning, .stopping, Self.leavingEarly) }
        try loops.close()
        let tally = loops.tally
        if let line = RunAccount.withoutEvents(tally) { log.log(.info, .stopped, line) }
        log.log(LogEvent(.info, .stopped, RunAccount.line(tally), counts: RunAccount.counts(tally)))
    }

    /// Handles the first signal: before `begun` is set nothing was begun; later, batches in flight are finished.
    private func stop(_ drivers: [LoopDriver], _ begun: StopFlag) -> @Sendable (Shutdown) -> Void {
        { [monitor, log, stopped = shell.stopped] shutdown in
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
}
