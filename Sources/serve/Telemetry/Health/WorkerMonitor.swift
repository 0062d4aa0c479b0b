internal import AppCheck
internal import Crypto
package import HTTP
internal import Kafka
package import KafkaPorts
internal import Member
internal import Pipeline
package import Settings
internal import Threads

/// Metrics and health of a running worker. Fed by the thread that runs the command, asked by the server's thread; it
/// never waits for a loop.
package final class WorkerMonitor: Sendable {
    /// The worker's course, besides what its loops do.
    private enum Phase { case starting, waitingForBroker, running, stopping }

    private struct Known {
        var phase = Phase.starting
        var snapshot: WorkerSnapshot
        var loaded: LoadedConfiguration
        var loops: [any WatchedLoop] = []
        var addLanes: (@Sendable (inout WorkerSnapshot) -> Void)?
        var fault: (sentence: String, at: Int64)?
        var brokers: [String] = []
        var copies: (@Sendable () -> [Int32: SnapshotReport])?
    }

    private let known: Locked<Known>
    private let topic: String
    let group: String?
    private let processStart = ProcessFigures.startTimeOfProcess()
    private let rates = Rates()

    /// - Parameter engine: the name of what verifies signatures.
    package init(_ loaded: LoadedConfiguration, version: String, engine: String, group: String? = nil) {
        topic = loaded.configuration.topics.requests
        self.group = group
        var snapshot = WorkerSnapshot()
        snapshot.build = WorkerSnapshot.Build(
            version: version,
            librdkafka: LibraryVersion.text,
            openSSL: CryptoVersion.openSSL,
            engine: engine
        )
        snapshot.anchors = loaded.configuration.anchorExpiries
        known = Locked(Known(snapshot: snapshot, loaded: loaded))
        note(loaded)
    }

    private static var now: Int64 { WallClock.milliseconds() }

    // MARK: Notes

    /// A configuration is in use, or was refused (nil).
    package func note(_ loaded: LoadedConfiguration?) {
        let now = Self.now
        known.withLock { known in
            known.snapshot.isReloaded = loaded != nil
            guard let loaded else { return }
            let apps = loaded.configuration.registry.apps
            known.snapshot.apps = apps.map(\.appID)
            known.snapshot.appNames = apps.compactMap { app in app.displayName.map { (app.appID, $0) } }
            (known.loaded, known.snapshot.reloadedAt) = (loaded, now)
        }
    }

    /// The worker asks its broker for the first time.
    package func noteWaiting() { known.withLock { $0.phase = .waitingForBroker } }

    /// The loops are about to run.
    ///
    /// - Parameter addLanes: adds what the lanes have done.
    package func noteRunning(_ loops: [any WatchedLoop], addLanes: @escaping @Sendable (inout WorkerSnapshot) -> Void) {
        for loop in loops { loop.life.note() }
        known.withLock { known in
            (known.loops, known.addLanes) = (loops, addLanes)
            // A signal may have come first.
            if known.phase != .stopping { known.phase = .running }
        }
    }

    /// - Parameter copies: asked with each scrape.
    package func note(copies: @escaping @Sendable () -> [Int32: SnapshotReport]) {
        known.withLock { $0.copies = copies }
    }

    package func noteStopping() { known.withLock { $0.phase = .stopping } }

    /// A fault, ridden out or not.
    func note(fault sentence: String) {
        let now = Self.now
        known.withLock { $0.fault = (sentence, now) }
    }

    /// What lasts of the connections to brokers, a sentence each.
    func note(brokers troubles: [String]) { known.withLock { $0.brokers = troubles } }

    /// Called some times a second: rates need two polls.
    package func poll() {
        let loops = known.withLock { $0.loops }
        rates.note(loops.reduce(0) { $0 + $1.state.tally.requests })
    }

    // MARK: Queries

    /// How often the library describes brokers and partitions, in milliseconds: for scrapes, or for the log alone.
    package func statisticsMilliseconds(_ configuration: Configuration) -> Int {
        configuration.metricsPort > 0 ? 2_000 : 5_000
    }

    package var silence: Duration {
        let loops = known.withLock { $0.loops }
        // A loop that has ended needs no life.
        return loops.filter { !$0.hasEnded }.map(\.life.age).max() ?? .zero
    }

    var lastFault: (sentence: String, at: Int64)? { known.withLock { $0.fault } }

    /// Requests per second over ten seconds, and over a minute.
    var requestRates: (tenSeconds: Double, minute: Double) { rates.values }

    var readiness: Readiness {
        let snapshot = snapshot()
        return Readiness(state: snapshot.state, reason: snapshot.reason, troubles: snapshot.troubles)
    }

    func snapshot() -> WorkerSnapshot {
        let known = known.withLock { $0 }
        var snapshot = known.snapshot
        let states = known.loops.map(\.state)
        snapshot.tally = states.reduce(into: LoopTally()) { $0.add($1.tally) }
        snapshot.loops = states.compactMap(\.loop)
        snapshot.members = states.compactMap(\.member)
        snapshot.brokers = BrokerFigures(snapshot.members.map(\.statistics), topic: topic)
        known.addLanes?(&snapshot)
        snapshot.copies = known.copies?() ?? [:]
        snapshot.signingKeys = known.loaded.signingKeyFacts
        snapshot.process = ProcessFigures.now(start: processStart)
        (snapshot.state, snapshot.reason) = Self.state(known.phase, states, snapshot.brokers)
        let away = snapshot.signingKeys.filter { $0.isAway == true }
        snapshot.troubles = known.brokers + away.map { "signing key \($0.kid) does not answer" }
        return snapshot
    }

    private static func state(
        _ phase: Phase,
        _ states: [LoopState],
        _ brokers: BrokerFigures
    ) -> (WorkerState, String?) {
        switch phase {
        case .starting: return (.starting, nil)
        case .stopping: return (.stopping, nil)
        case .waitingForBroker: return (.waitingForBroker, "the broker has not answered yet")
        case .running:
            let all = states.map { $0.workerState(isBrokerAway: brokers.isAway) }
            let first = WorkerState.allCases.lazy.compactMap { state in all.first { $0.0 == state } }.first
            if first?.0 == .running, let reason = reasonOfHold(states) { return (.paused, reason) }
            return first ?? (.starting, nil)
        }
    }

    /// Why nothing is read though every loop runs; nil where a partition is read.
    static func reasonOfHold(_ states: [LoopState]) -> String? {
        let partitions = states.flatMap { $0.loop?.partitions ?? [] }
        let holds = partitions.compactMap { partition in partition.hold.map { (partition.number, $0) } }
        guard let (number, hold) = holds.min(by: { $0.0 < $1.0 }), holds.count == partitions.count else { return nil }
        return "every partition is held; the first, \(number): \(hold)"
    }
}

extension WorkerMonitor: ProgramMonitor {
    package var pages: HTTPServer.Handler { Endpoints(self).answer }

    package func port(in configuration: Configuration) -> (number: Int, setting: String) {
        (configuration.metricsPort, "metrics")
    }
}

extension LoopState {
    /// - Parameter isBrokerAway: no client is connected to any broker.
    fileprivate func workerState(isBrokerAway: Bool) -> (WorkerState, String?) {
        guard let loop else { return (.starting, nil) }
        switch loop.condition {
        case .stopping: return (.stopping, nil)
        case .waiting where isBrokerAway: return (.waitingForBroker, "no broker is connected")
        case .waiting: return (.waitingForBroker, "the group has assigned no partition yet")
        case .restoring:
            let progress = loop.restoring ?? RestoreProgress(records: 0, remaining: 0)
            return (
                .restoring,
                "\(progress.records.counted("record")) restored, \(Int(progress.remaining).counted("offset")) left"
            )
        case .paused(let reason): return (.paused, reason)
        case .running where isBrokerAway: return (.waitingForBroker, "no broker is connected")
        case .running where isBackingOff: return (.waitingForBroker, "the last call to the broker failed")
        case .running:
            // The first request would wait for a connection, and for the library's look at the partition.
            let unread = member?.unread ?? []
            return unread.isEmpty ? (.running, nil) : (.starting, WorkerSnapshot.text(unread: unread))
        }
    }
}

/// Metrics and health of a program, served on a separate port.
package protocol ProgramMonitor: Sendable {
    /// How long the quietest of the threads that must not hang has shown no life.
    var silence: Duration { get }
    /// The answers of the port's paths.
    var pages: HTTPServer.Handler { get }
    /// The port, and the setting of worker.json that names it.
    func port(in configuration: Configuration) -> (number: Int, setting: String)
}

extension ProgramMonitor {
    /// Serves metrics and health until the server is released.
    ///
    /// - Parameter warn: takes a line where nothing can listen: the program works without.
    /// - Returns: nil where nothing is served.
    package func serve(_ configuration: Configuration, warn: (String) -> Void) -> HTTPServer? {
        let (number, setting) = port(in: configuration)
        guard let port = UInt16(exactly: number), port > 0 else { return nil }
        do throws(HTTPFault) {
            return try HTTPServer(address: configuration.metricsAddress, port: port, handler: pages)
        } catch {
            warn("metrics and health are not served: \(error.description); change \(setting) in worker.json")
            return nil
        }
    }
}
