internal import Broker
package import CommandFrame
internal import Glibc
internal import Kafka
package import KafkaPorts
package import Settings
internal import Synchronization
package import Telemetry

/// The frame of `run` and `gateway` from their start to their end: the log, signals, readiness, the wait for the
/// broker, warnings and the last line.
package final class ProgramShell {
    /// How long every broker may take to hear of a topic: just created ones appear one after the other.
    private static let propagationTime = Duration.seconds(5)
    /// The pause between two questions of a gateway or a refresher.
    static let retryPause = Duration.milliseconds(500)

    package let log: EventLog
    /// Set by the first signal.
    package let stopped = StopFlag()
    private let service = ServiceManager.ofProcess

    package init(_ settings: LogSettings, _ console: Console) {
        log = EventLog.standard(settings, isTerminal: console.isTerminal)
    }

    /// Takes the sentence of an engine or a library that was found wrong, on any thread.
    package var alarm: @Sendable (String) -> Void { { [log] in log.log(.error, .engineDisagrees, "ALARM: \($0)") } }

    /// Runs `work`; the client library's lines go to the log.
    ///
    /// - Throws: ``SilentEnd`` for what ends the program: its sentence is the log's last line.
    package func run(_ work: () throws -> Void) throws {
        ClientLog.route { [log] in log.log(LogEvent($0, quiet: LogEvent.ofConnections)) }
        defer { log.finish() }
        do { try work() } catch  where log.style != .terminal {
            log.log(.error, .stopped, AttestWorker.sentence(for: error))
            throw SilentEnd(exitCode: AttestWorker.exitCode(for: error))
        }
    }

    /// Runs `work` while signals are taken, and metrics and health are served. No broker is needed for that, so a
    /// service manager hears at once that the program is ready.
    ///
    /// - Parameters:
    ///   - name: the program's for the service manager.
    ///   - stop: called once, on the first signal, on a queue of its own.
    package func attend(
        _ monitor: some ProgramMonitor,
        _ configuration: Configuration,
        name: String,
        stop: @escaping @Sendable (Shutdown) -> Void,
        _ work: (ReloadSignal) throws -> Void
    ) throws {
        let shutdown = Shutdown { [service] shutdown in
            service.say(.stopping)
            stop(shutdown)
        }
        let reload = ReloadSignal()
        defer {
            shutdown.cancel()
            reload.cancel()
        }
        let server = monitor.serve(configuration) { [log] in log.log(.warning, .metricsUnserved, $0) }
        service.say(.ready, status: name)
        let feed = WatchdogFeed(service, silence: { monitor.silence }, most: Endpoints.mostSilence)
        defer { withExtendedLifetime((server, feed)) {} }
        try work(reload)
    }

    /// Asks the broker until it answers.
    ///
    /// - Parameters:
    ///   - ask: nil = to be asked again. Its argument says whether topics may still be on their way.
    ///   - missed: called with each fault that is waited out.
    /// - Returns: nil when a signal came first.
    package func waitForBroker<Answer>(
        pause: Duration,
        ask: (_ isEarly: () -> Bool) throws -> Answer?,
        missed: (KafkaFault) -> Void
    ) throws -> Answer? {
        var isAway = false
        let limit = ContinuousClock.now + Self.propagationTime
        while !stopped.isSet {
            do {
                if let answer = try ask({ ContinuousClock.now < limit }) {
                    if isAway { log.log(.info, .brokerBack, "the broker answers") }
                    return answer
                }
            } catch let fault as KafkaFault where fault.isRecoverable {
                if !isAway { log.log(.warning, .brokerWaiting, "waiting for the broker: \(fault.message)") }
                isAway = true
                missed(fault)
            }
            Self.pause(pause)
        }
        return nil
    }

    /// Asks the broker until it answers and the topics are there. The monitor shows why it waits.
    ///
    /// - Returns: nil when a signal came first.
    package func waitForBroker<Facts: StateFacts, Answer>(
        _ monitor: StateMonitor<Facts>,
        ask: () throws -> Answer
    ) throws -> Answer? {
        monitor.note(.waitingForBroker, "the broker has not answered yet")
        return try waitForBroker(pause: Self.retryPause) { isEarly -> Answer? in
            do { return try ask() } catch let fault as CommandFault where isEarly() {
                monitor.note(.waitingForBroker, AttestWorker.sentence(for: fault))
                return nil
            }
        } missed: {
            monitor.note(.waitingForBroker, $0.message)
        }
    }

    /// Logs what is doubtful about a configuration; errors were thrown when it was read.
    package func warn(_ lines: [String]) {
        for line in lines { log.log(.warning, .configurationDoubtful, line) }
    }

    package static func pause(_ time: Duration) { usleep(UInt32(time / .microseconds(1))) }
}

/// Set once by a signal, read by the threads that wait.
package final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    package func set() { flag.store(true, ordering: .relaxed) }
    package var isSet: Bool { flag.load(ordering: .relaxed) }
}
