internal import AppAttest
internal import AppCheck
internal import Broker
internal import Crypto
internal import Foundation
internal import Kafka
internal import Log
internal import Pipeline
internal import Settings
internal import Synchronization

/// `run`: the worker on a broker, from the checks before the start until it has drained.
final class WorkerSession {
    private static let retryPause: TimeInterval = 1
    /// How long a broker may take to answer before the worker runs, in milliseconds.
    private static let firstPatience = 2_000
    private static let lastPatience = 10_000
    /// How long every broker may take to hear of a topic.
    private static let newsTime = Duration.seconds(5)
    /// An idle poll ends with its first record; a stop waits for up to two such polls.
    private static let mostIdleMilliseconds = 250
    /// Time to end after a signal: longer than a commit takes, shorter than the five seconds that its sender may wait.
    private static let stopSeconds = 4.5
    private static let leavingEarly =
        "leaving without the last commit; nothing is lost: the next owner of the partitions does the work again"

    private let directory: String
    private let loaded: LoadedConfiguration
    private let console: Console
    private let access: BrokerAccess
    private let anchors: TrustAnchors
    private let engine: EngineChoice
    private let signing: SigningChoice

    private var configuration: Configuration { loaded.configuration }

    /// - Parameter engine: instead of worker.json's `engine.use`.
    init(directory: String, instance: String?, engine: EngineUse? = nil, console: Console) throws {
        self.directory = directory
        self.console = console
        loaded = try LoadedConfiguration.load(directory: directory)
        let configuration = loaded.configuration
        anchors = try configuration.trustAnchors()
        var engineSettings = configuration.engine
        if let engine { engineSettings.use = engine }
        self.engine = try EngineChoice(engineSettings)
        signing = try SigningChoice(engineSettings)
        access = try BrokerAccess(configuration, instance: instance)
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
        try report(findings, endsAt: { $0.severity == .problem })
        printDoubts()
    }

    /// Prints the doubtful findings, or that there are none.
    ///
    /// - Throws: ``CommandFault`` for a finding that keeps the worker from running.
    private func report(_ findings: [TopicFinding], endsAt isFatal: (TopicFinding) -> Bool) throws {
        if let address = access.embeddedAddress { console.print("the embedded broker listens on \(address)") }
        for finding in findings where !isFatal(finding) { console.printError("warning: \(finding.message)") }
        let problems = findings.filter(isFatal).map(\.message)
        guard problems.isEmpty else { throw CommandFault(problems.joined(separator: "; ")) }
        console.print("configuration, anchors and topics are in order: \(try access.partitionCount()) partitions")
    }

    /// Runs until a signal asks for the end, or the log cannot go on.
    func run() throws {
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
        guard try waitForBroker(stopped) else { return }
        begun.set()
        printMode()
        printDoubts()
        let partitions = try access.partitionCount()
        let notices = NoticeBoard()
        let factory = LaneFactory(
            lanes: configuration.lanes,
            engine: engine,
            anchors: anchors,
            limits: configuration.pipelineSettings(loaded.keys.rings).objectLimits,
            alarm: { notices.post("ALARM: \($0)") }
        )
        console.print("signatures are verified by \(engine.text), on \(factory.count) lanes")
        let library = signing.make(engine, factory.watch) { notices.post("ALARM: \($0)") }
        let signer = loaded.keys.rings.tokens.signer(library)
        if let text = signing.text(signer, loaded.keys.rings.tokens) { console.print("tokens are signed by \(text)") }
        let settings = configuration.liveSettings(loaded.keys.rings, signer: signer, partitions: partitions)
        access.settings.isStopping = { stopped.isSet }
        let restored = RestoreCount()
        let options = try options(of: drivers.count, factory)
        let logs = try openLogs(drivers.count, notices, restored, partitions)
        let loops = LoopSet(
            zip(drivers, zip(logs, options)).map { driver, parts in
                LoopSet.Member(
                    driver: driver,
                    loop: loop(driver, parts, factory, settings, notices),
                    close: parts.0.close
                )
            }
        )
        let watch = watch(loops, hangup, library, partitions, notices)
        var progress = ProgressMeter("run", unit: "records", total: nil, console: console)
        do {
            try attend(loops, stopped, LaneWatch(factory.works), notices, watch, restored, &progress)
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
        progress.finish()
        for line in notices.take() { console.printError("\(AttestWorker.name): \(line)") }
        if loops.endedWithoutCommit { Self.tell(Self.leavingEarly) }
        try loops.close()
        let tally = loops.tally
        if let line = RunAccount.withoutEvents(tally) { console.print(line) }
        console.print(RunAccount.line(tally))
    }

    private func loop(
        _ driver: LoopDriver,
        _ parts: (log: KafkaRecordLog, options: BatchLoop.Options),
        _ factory: LaneFactory,
        _ settings: PipelineSettings,
        _ notices: NoticeBoard
    ) -> BatchLoop {
        BatchLoop(
            log: parts.log.roles,
            settings: settings,
            lanes: factory.lanes,
            options: parts.options,
            post: driver.post,
            wallClock: { EvaluationTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) },
            uptime: Uptime.milliseconds,
            notice: { notices.post(String(describing: $0)) }
        )
    }

    /// The options of each loop. The crash marks are the instance's, however many loops it has.
    private func options(of count: Int, _ factory: LaneFactory) throws -> [BatchLoop.Options] {
        let solitude = Solitude(loops: count)
        var options = solitude.seats.map { seat in
            var options = BatchLoop.Options()
            options.batch = configuration.batch
            options.seat = seat
            return options
        }
        let marks = CrashMarks.begin(
            directory: directory,
            stableID: try access.settings.stableID(),
            topic: configuration.topics.requests,
            works: factory.works + options.map(\.work),
            tell: { console.printError("\(AttestWorker.name): \($0)") }
        )
        for index in options.indices { options[index].heed(marks) }
        return options
    }

    /// Runs the loops, and prints the news ten times a second.
    private func attend(
        _ loops: LoopSet,
        _ stopped: StopFlag,
        _ watched: LaneWatch,
        _ notices: NoticeBoard,
        _ watch: ConfigurationWatch,
        _ restored: RestoreCount,
        _ progress: inout ProgressMeter
    ) throws {
        var (lanes, shown) = (watched, 0)
        var restoring = RestoreMeter(console: console)
        var sessions = SessionTokenMeter(console: console, limits: configuration.limits)
        // The others' calls to the broker then give up soon, too.
        try loops.run(stopping: stopped.set) { tally, restore in
            for line in notices.take() { console.printError("\(AttestWorker.name): \(line)") }
            watch.poll()
            restoring.update(restore, total: restored.total)
            sessions.update(tally)
            if let hung = lanes.look() {
                Self.tell(hung.sentence(topic: configuration.topics.requests))
                // At once: an orderly exit would wait for the thread that hangs.
                _exit(1)
            }
            if tally.requests != shown { progress.update(tally.requests) }
            shown = tally.requests
        }
    }

    /// Handles the first signal: before `begun` is set nothing was begun; later, batches in flight are finished.
    private func shutdown(_ drivers: [LoopDriver], _ stopped: StopFlag, _ begun: StopFlag) -> Shutdown {
        Shutdown { shutdown in
            guard begun.isSet else {
                // The first question to the broker may take seconds, and nothing depends on its answer.
                Self.tell("stop requested before the broker answered: nothing was started")
                _exit(ExitCode.done)
            }
            Self.tell("stop requested: finishing the work in flight first")
            stopped.set()
            for driver in drivers { driver.stop() }
            shutdown.limit(seconds: Self.stopSeconds) {
                Self.tell("the broker does not answer: \(Self.leavingEarly)")
            }
        }
    }

    /// From any thread, and not through the console: the thread that uses the console may be the one that hangs.
    private static func tell(_ line: String) {
        FileHandle.standardError.write(Data("\(AttestWorker.name): \(line)\n".utf8))
    }

    private func openLogs(
        _ count: Int,
        _ notices: NoticeBoard,
        _ restored: RestoreCount,
        _ partitions: Int32
    ) throws -> [KafkaRecordLog] {
        access.settings.partitions = partitions
        let trouble: @Sendable (KafkaFault) -> Void = { notices.post($0.description) }
        return try access.settings.members(count).map { settings in
            switch configuration.delivery {
            case .exactlyOnce: try KafkaRecordLog(exactlyOnce: settings, trouble: trouble, restored: restored.add)
            case .atLeastOnce: try KafkaRecordLog(atLeastOnce: settings, trouble: trouble, restored: restored.add)
            }
        }
    }

    /// Hands changed apps and keys to the loops between two batches.
    private func watch(
        _ loops: LoopSet,
        _ hangup: Hangup,
        _ library: SigningLibrary?,
        _ partitions: Int32,
        _ notices: NoticeBoard
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
            say: { notices.post($0) }
        )
    }

    private func printDoubts() {
        for line in loaded.warnings(now: Int64(Date().timeIntervalSince1970 * 1000)) {
            console.printError("warning: \(line)")
        }
    }

    /// Waits until the broker answers; then the topics must match.
    ///
    /// - Returns: false when a signal came first.
    private func waitForBroker(_ stopped: StopFlag) throws -> Bool {
        var isReported = false
        // Short at first: a user soon sees that the broker is absent, and a signal does not wait long.
        var patience = Self.firstPatience
        let newsLimit = ContinuousClock.now + Self.newsTime
        while !stopped.isSet {
            do {
                let findings = try access.findings(timeoutMilliseconds: patience)
                if findings.contains(where: \.mayPass), ContinuousClock.now < newsLimit {
                    Thread.sleep(forTimeInterval: Self.retryPause)
                    continue
                }
                try report(findings) { $0.severity == .problem && $0.endsRun }
                return !stopped.isSet
            } catch let fault as KafkaFault where fault.isRecoverable {
                if !isReported { console.printError("\(AttestWorker.name): waiting for the broker: \(fault.message)") }
                isReported = true
                patience = min(patience * 2, Self.lastPatience)
                Thread.sleep(forTimeInterval: Self.retryPause)
            }
        }
        return false
    }

    private func printMode() {
        let count = configuration.loopCount
        if count > 1 {
            let name = access.settings.instanceName
            console.print("\(count) loops: instances \(name)-0 to \(name)-\(count - 1)")
        }
        // The embedded broker makes it a trial run, whatever else is configured.
        if !configuration.embeddedBroker {
            for line in LabAnchors.warnings(configuration.anchors) { console.printError("warning: \(line)") }
        }
        guard configuration.delivery == .atLeastOnce else { return }
        console.printError(
            "warning: delivery is at-least-once: after a fault requests may be answered twice, though no counter moves twice"
        )
    }
}

/// Set once by a signal, read by the threads that wait.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    func set() { flag.store(true, ordering: .relaxed) }
    var isSet: Bool { flag.load(ordering: .relaxed) }
}

/// News from the loop's queue for the thread that prints. The same line is not repeated.
final class NoticeBoard: Sendable {
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
