package import BrokerKit
internal import Foundation
internal import TestKit

/// Kills, pauses and restarts what takes part in the fraud metric while devices attest, and then audits what is left.
package final class RefreshRun {
    private static let interval = Duration.seconds(4)
    /// So many keys are forgotten before their receipts are exchanged, and so many later.
    private static let forgets = 3

    /// All of them attest once, a third before the first call.
    private let devices: Int
    private let site: RefreshSite
    private let traffic: RefreshTraffic
    private let workers: ChaosCrew
    private let refreshers: ChaosCrew
    private let brokers: ChaosBrokers
    private let plan: [PlannedFault]
    private let seed: UInt64
    private let say: (String) -> Void
    /// The end of the last outage of Apple's double.
    private var outage = ContinuousClock.now

    /// - Parameter print: takes the run's progress, a line each.
    package init(_ cluster: RealCluster, faults: Int, seed: UInt64, print: @escaping (String) -> Void) throws {
        let begin = ContinuousClock.now
        let say = { (line: String) in print("\((ContinuousClock.now - begin).text)  \(line)") }
        let site = try RefreshSite("refreshchaos", servers: cluster.bootstrapServers)
        func crew(_ command: String, _ names: [String]) -> ChaosCrew {
            let (folder, config) = (site.workplace.folder, site.workplace.config)
            return ChaosCrew(ChaosSettings(), names, in: folder, log: say) { name, streams in
                try ProgramProcess([command, "--config", config, "--instance", name], streams: streams)
            }
        }
        (self.site, self.say, self.seed, devices) = (site, say, seed, 15 * faults)
        traffic = try RefreshTraffic(site, seed: seed)
        (workers, refreshers) = (crew("run", ["w1", "w2"]), crew("refresh-receipts", ["r1", "r2"]))
        brokers = ChaosBrokers(cluster, log: say)
        var kinds: [ChaosFault] = [.killWorker, .terminateWorker, .pauseWorkerPastSession, .blackHole, .pauseBroker]
        // A lone broker that is killed may lose the end of a transaction.
        if cluster.settings.brokers > 1 { kinds += [.killBroker, .restartBroker] }
        plan = ChaosPlan.faults(faults, seed: seed, of: kinds)
    }

    /// - Returns: what is wrong, a line each, and what the run left behind.
    package func run() throws -> (findings: [String], evidence: RefreshEvidence) {
        try site.createTopics()
        // These wait for the first refresher: all lines exchange them.
        try traffic.attest(devices / 3)
        try traffic.flush()
        try workers.start()
        for number in 0..<min(Self.forgets, traffic.devices.count) { try forget(number) }
        try site.apple.serve(faults: 0.15, seed: seed)
        try refreshers.start()
        for (index, planned) in plan.enumerated() { try inject(planned, index) }
        try heal()
        var findings = try settle()
        for crew in [refreshers, workers] { try crew.finish() }
        let evidence = try RefreshEvidence(site)
        findings += brokers.findings + workers.findings + refreshers.findings + RefreshAudit.findings(evidence)
        findings += try site.leaks().map { "\($0) has a secret" }
        say("\(evidence.calls.count) calls, and \(evidence.events.count) receipts that moved a metric")
        return (findings, evidence)
    }

    // MARK: Faults

    private func inject(_ planned: PlannedFault, _ index: Int) throws {
        let start = ContinuousClock.now
        while ContinuousClock.now < start + Self.interval {
            let part = min(1, (ContinuousClock.now - start) / Self.interval)
            try pace((Double(index) + part) / Double(plan.count))
            try tick()
        }
        if Self.forgets * (index + 1) / plan.count > Self.forgets * index / plan.count {
            while !isWhole { try tick() }
            try forget(Int(planned.target % UInt64(traffic.devices.count)))
        }
        while true {
            if let done = try apply(planned) {
                return say("\(index + 1) of \(plan.count): \(done) (\(site.apple.callCount) calls)")
            }
            try tick()
        }
    }

    /// Devices attest as the run goes on, and one of the earlier ones asserts.
    private func pace(_ share: Double) throws {
        while traffic.devices.count < devices / 3 + Int(Double(devices - devices / 3) * share) {
            try traffic.attest()
            try traffic.assert([traffic.devices.count / 2])
        }
    }

    /// - Returns: a description; nil where the fault has to wait.
    private func apply(_ planned: PlannedFault) throws -> String? {
        guard brokers.isWhole else { return nil }
        if planned.fault.side == .brokers { return try brokers.apply(planned) }
        if planned.fault == .blackHole {
            let length = Duration.seconds(0.5 + 3 * planned.length)
            outage = .now + length
            return "Apple's double answers nothing for \(length.text)"
        }
        // A worker that stood still may be fenced, and end.
        let crews = planned.fault == .pauseWorkerPastSession ? [refreshers] : [workers, refreshers]
        let done = try crews.compactMap { try $0.apply(planned) }
        return done.isEmpty ? nil : done.joined(separator: ", ")
    }

    private var isWhole: Bool { workers.isWhole && refreshers.isWhole && brokers.isWhole }

    private func tick() throws {
        site.apple.fail(ContinuousClock.now < outage)
        for crew in [workers, refreshers] { try crew.tick() }
        _ = try brokers.tick()
        usleep(20_000)
    }

    private func forget(_ number: Int) throws { try site.workplace.done("forget", "--key-id", traffic.keyID(number)) }

    // MARK: Afterwards

    /// Waits until every process runs, then ends the double's faults; a restarted refresher has no open breaker.
    private func heal() throws {
        try pace(1)
        while !isWhole || ContinuousClock.now < outage { try tick() }
        try traffic.flush()
        try site.apple.serve()
        _ = try refreshers.leave(tick)
        try refreshers.come()
        say("all are there, and Apple's double is right")
    }

    /// Waits until the workers and the lines have done all they can.
    ///
    /// - Returns: what is not done, without progress for long.
    private func settle() throws -> [String] {
        let watch = site.workplace.drainWatch()
        var isSettled = false
        _ = try eventually(seconds: 90) {
            for _ in 0..<50 { try tick() }
            isSettled = (try? site.isSettled(watch)) ?? false
            return watch.committed + Int64(site.apple.callCount)
        } until: { _ in
            isSettled
        }
        return isSettled ? [] : ["not settled: \(watch.obstacle)"]
    }
}
