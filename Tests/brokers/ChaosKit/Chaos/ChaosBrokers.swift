internal import BrokerKit
internal import Foundation

/// The brokers of a run and their faults. For one thread at a time.
final class ChaosBrokers {
    private enum State {
        case running
        case paused(until: ContinuousClock.Instant)
        /// Asked to end; it is started again after that.
        case ending
        case down(until: ContinuousClock.Instant)
        case starting(since: ContinuousClock.Instant)
    }

    private let cluster: RealCluster
    private let log: (String) -> Void
    private var states: [Int: State]
    /// Brokers that ended by themselves.
    private(set) var findings: [String] = []

    private static let startLimit = Duration.seconds(90)

    init(_ cluster: RealCluster, log: @escaping (String) -> Void) {
        (self.cluster, self.log) = (cluster, log)
        states = Dictionary(uniqueKeysWithValues: cluster.brokerIDs.map { ($0, .running) })
    }

    /// Every broker serves.
    var isWhole: Bool {
        states.values.allSatisfy { if case .running = $0 { true } else { false } }
    }

    /// Injects a fault. - Returns: a description; nil while another broker's fault lasts.
    func apply(_ planned: PlannedFault) throws -> String? {
        guard isWhole else { return nil }
        let id = 1 + Int(planned.target % UInt64(states.count))
        let length = Duration.seconds(0.5 + 4 * planned.length)
        switch planned.fault {
        case .killBroker:
            try cluster.kill(id)
            states[id] = .down(until: .now + length)
            return "kill -9 of broker \(id), back in \(length.text)"
        case .killAllBrokers:
            for id in cluster.brokerIDs { try cluster.kill(id) }
            for id in cluster.brokerIDs { states[id] = .down(until: .now + length) }
            return "kill -9 of all brokers, back in \(length.text)"
        case .restartBroker:
            try cluster.askToEnd(id)
            states[id] = .ending
            return "restart of broker \(id)"
        case .pauseBroker:
            // From a hiccup to longer than the others wait for it.
            let pause = Duration.seconds(1 + 7 * planned.length)
            try cluster.pause(id)
            states[id] = .paused(until: .now + pause)
            return "pause of broker \(id) for \(pause.text)"
        case .killWorkerInPause:
            for id in cluster.brokerIDs {
                try cluster.pause(id)
                states[id] = .paused(until: .now + Self.deadlyPause)
            }
            return "pause of all brokers for \(Self.deadlyPause.text)"
        default: return nil
        }
    }

    /// Long enough for a worker to send what it has, shorter than the workers' sessions.
    static let deadlyPause = Duration.seconds(2.5)

    /// Ends faults that are due. - Returns: whether a fault ended.
    func tick() throws -> Bool {
        var healed = false
        for id in cluster.brokerIDs where try tick(id) { healed = true }
        return healed
    }

    private func tick(_ id: Int) throws -> Bool {
        guard let state = states[id] else { return false }
        switch state {
        case .running:
            if !cluster.isRunning(id) { try noteOwnEnd(id) }
            return false
        case .paused(let until):
            guard ContinuousClock.now >= until else { return false }
            try cluster.resume(id)
            states[id] = .running
            return true
        case .ending:
            return cluster.isRunning(id) ? false : try launch(id)
        case .down(let until):
            return ContinuousClock.now < until ? false : try launch(id)
        case .starting(let since):
            guard cluster.isServing(id) else {
                if !cluster.isRunning(id) { try noteOwnEnd(id) }
                guard ContinuousClock.now - since < Self.startLimit else {
                    throw ClusterFault(description: "broker \(id) does not come back: \(cluster.logTail(id))")
                }
                return false
            }
            states[id] = .running
            return false
        }
    }

    /// - Returns: true: from here on it is the cluster's turn.
    @discardableResult
    private func launch(_ id: Int) throws -> Bool {
        try cluster.launch(id)
        states[id] = .starting(since: .now)
        return true
    }

    private func noteOwnEnd(_ id: Int) throws {
        findings.append("broker \(id) ended by itself: \(cluster.logTail(id, characters: 600))")
        log("FINDING \(findings[findings.count - 1])")
        try launch(id)
    }
}
