package import BrokerKit
internal import DeviceLab
internal import Foundation

/// Kills and pauses what takes part in the fraud metric while devices attest, and then checks what is left.
package final class RefreshRun {
    package struct Settings: Sendable {
        package var seed: UInt64 = 1
        package var faults = 8
        /// All of them attest once, a third before the first call.
        package var devices = 120
        package var secondsBetweenFaults = 4.0
        /// Of the double's answers.
        package var faultShare = 0.15
        /// So many keys are forgotten before their receipts are exchanged, and so many later.
        package var forgets = 3
        package var callsPerSecond = 40
        package var latency = Duration.milliseconds(300)

        package init() {}
    }

    package struct Report: Sendable {
        /// What is wrong, a line each; empty = passed.
        package var findings: [String] = []
        /// What happened, a line each.
        package var lines: [String] = []
        package var evidence = RefreshEvidence()
    }

    private enum Fault: String, CaseIterable {
        case killWorker = "kill -9 of a worker"
        case killRefresher = "kill -9 of a refresher"
        case killApple = "kill -9 of Apple's double"
        case endRefresher = "SIGTERM of a refresher"
        case pauseBroker = "broker pause"
        case killBroker = "kill -9 of a broker"
        case restartBroker = "broker restart"

        /// Whether exchanges may be made again.
        var repeatsExchanges: Bool { self == .killRefresher || self == .endRefresher || broker != nil }

        var broker: ChaosFault? {
            switch self {
            case .pauseBroker: .pauseBroker
            case .killBroker: .killBroker
            case .restartBroker: .restartBroker
            default: nil
            }
        }

        /// A lone broker that is killed may lose the end of a transaction.
        static func kinds(brokers: Int) -> [Fault] {
            allCases.filter { brokers > 1 || $0.broker == nil || $0 == .pauseBroker }
        }
    }

    /// In flight at most, by design.
    private static let mostInFlight = 64
    /// A position is committed every two seconds, and a commit takes a moment.
    private static let commitSeconds = 3
    /// How long the coordinator of a group may be away while other brokers take requests.
    private static let takeoverSeconds = 15

    private let settings: Settings
    private let cluster: RealCluster
    private let site: RefreshSite
    private let traffic: RefreshTraffic
    private let cast: RefreshCast
    private let brokers: ChaosBrokers
    private let begin = ContinuousClock.now
    private let print: (String) -> Void
    private var random: SeededRandom
    private var forgetting: [(keyID: String, process: ProgramProcess)] = []
    private var repeats = 0
    /// Of the double's next start.
    private var faultShare: Double

    package init(_ cluster: RealCluster, _ name: String, _ settings: Settings, print: @escaping (String) -> Void) throws
    {
        (self.cluster, self.settings, self.print) = (cluster, settings, print)
        var ofSite = RefreshSite.Settings()
        (ofSite.callsPerSecond, ofSite.latency) = (settings.callsPerSecond, settings.latency)
        site = try RefreshSite(name, servers: cluster.bootstrapServers, ofSite)
        traffic = try RefreshTraffic(site, seed: settings.seed)
        cast = RefreshCast { print($0) }
        brokers = ChaosBrokers(cluster) { print($0) }
        random = SeededRandom(seed: settings.seed)
        faultShare = settings.faultShare
    }

    package func run() throws -> Report {
        try site.createTopics()
        // These wait for the first refresher: all lines exchange them.
        try traffic.attest(settings.devices / 3)
        for name in ["w1", "w2"] { try cast.add(name) { [site] in try site.worker(name) } }
        try cast.add("apple") { [unowned self] in
            try site.apple(faults: faultShare, seed: random.next() % 1_000)
        }
        for number in 0..<min(settings.forgets, traffic.devices.count) { try forget(traffic.keyID(number)) }
        for name in ["r1", "r2"] { try cast.add(name) { [site] in try site.refresher(name) } }
        try doFaults()
        try heal()
        let unsettled = try settle()
        try cast.finish()
        return try report(unsettled)
    }

    private func say(_ line: String) { print("\((ContinuousClock.now - begin).text)  \(line)") }

    // MARK: Faults

    private func doFaults() throws {
        var round: [Fault] = []
        let interval = Duration.seconds(settings.secondsBetweenFaults)
        for index in 0..<settings.faults {
            let start = ContinuousClock.now
            while ContinuousClock.now < start + interval {
                let part = min(1, (ContinuousClock.now - start) / interval)
                try pace((Double(index) + part) / Double(settings.faults))
                try tick()
            }
            if round.isEmpty { round = Fault.kinds(brokers: cluster.settings.brokers).shuffled(using: &random) }
            let fault = round.removeLast()
            while !fits(fault) { try tick() }
            try apply(fault)
            if fault.repeatsExchanges { repeats += 1 }
            say("\(index + 1) of \(settings.faults): \(fault.rawValue) (\(site.relay.callCount) calls)")
            let due = settings.forgets * (index + 1) / settings.faults
            if due > settings.forgets * index / settings.faults { try forget() }
        }
    }

    /// Devices attest as the run goes on, and one of the earlier ones asserts.
    private func pace(_ share: Double) throws {
        let first = settings.devices / 3
        while traffic.devices.count < first + Int(Double(settings.devices - first) * share) {
            try traffic.attest()
            try traffic.assert([Int(random.next() % UInt64(traffic.devices.count))])
        }
        traffic.poll()
    }

    private func fits(_ fault: Fault) -> Bool {
        brokers.isWhole && (fault.broker != nil || targets(of: fault).contains(where: cast.isUp))
    }

    private func targets(of fault: Fault) -> [String] {
        switch fault {
        case .killWorker: ["w1", "w2"]
        case .killRefresher, .endRefresher: ["r1", "r2"]
        case .killApple: ["apple"]
        case .pauseBroker, .killBroker, .restartBroker: []
        }
    }

    private func apply(_ fault: Fault) throws {
        let targets = targets(of: fault).filter(cast.isUp)
        let (choice, length) = (random.next(), Double(random.next() % 1001) / 1000)
        if let fault = fault.broker {
            if let line = try brokers.apply(PlannedFault(fault: fault, target: choice, length: length)) { say(line) }
            return
        }
        let target = targets[Int(choice % UInt64(targets.count))]
        let pause = Duration.seconds(3 * length)
        fault == .endRefresher ? cast.terminate(target, back: pause) : cast.kill(target, back: pause)
    }

    private func tick() throws {
        try cast.tick()
        _ = try brokers.tick()
        for (index, pending) in forgetting.enumerated().reversed() {
            guard let end = pending.process.end else { continue }
            forgetting.remove(at: index)
            // The broker did not answer in time.
            if end != .exit(0) { try forget(pending.keyID) }
        }
        usleep(20_000)
    }

    private func forget() throws { try forget(traffic.keyID(Int(random.next() % UInt64(traffic.devices.count)))) }

    private func forget(_ keyID: String) throws {
        forgetting.append((keyID, try site.workplace.start("forget", "--key-id", keyID)))
    }

    // MARK: Afterwards

    /// Waits until every process runs, then ends the double's faults; a restarted refresher has no open breaker.
    private func heal() throws {
        try pace(1)
        while !cast.isWhole || !brokers.isWhole || !forgetting.isEmpty { try tick() }
        try traffic.flush()
        faultShare = 0
        for name in ["apple", "r1", "r2"] { cast.terminate(name, back: .zero) }
        repeats += 2
        while !cast.isWhole { try tick() }
        say("all are there, and Apple's double is right")
    }

    /// Waits until the workers and the lines have done all they can.
    ///
    /// - Returns: what is not done after a long time without progress.
    private func settle() throws -> [String] {
        let watch = site.workplace.drainWatch()
        var (last, changed) = (Progress(), ContinuousClock.now)
        while true {
            for _ in 0..<50 { try tick() }
            let isDrained = try watch.isDrained()
            let unread = (try? site.unreadLines()) ?? ["the broker does not say"]
            let progress = Progress(calls: site.relay.callCount, requests: watch.committed, unread: unread)
            if progress != last { (last, changed) = (progress, .now) }
            let quiet = ContinuousClock.now - changed
            if isDrained, unread.isEmpty, quiet > .seconds(3) { return [] }
            if quiet > .seconds(90) { return unread + (isDrained ? [] : [watch.obstacle]) }
        }
    }

    private struct Progress: Equatable {
        var calls = 0
        var requests: Int64 = 0
        var unread: [String] = []
    }

    private func report(_ unsettled: [String]) throws -> Report {
        var report = Report()
        report.evidence = try RefreshEvidence(site)
        let exchanges = report.evidence.exchanges
        let seconds = Self.commitSeconds + (cluster.settings.brokers > 1 ? Self.takeoverSeconds : 0)
        let again = Self.mostInFlight + seconds * settings.callsPerSecond
        let repeats = repeats + cast.fenced
        report.evidence.mostFinalCalls = exchanges + repeats * again
        report.findings = unsettled.map { "not done: \($0)" } + brokers.findings + cast.findings
        report.findings += RefreshAudit.findings(report.evidence)
        let secrets = RefreshSecrets(key: site.key, calls: report.evidence.calls)
        report.findings += try secrets.found(inStreamsOf: site.workplace.folder)
        let calls = report.evidence.calls
        let steps = report.evidence.steps.values.flatMap { $0 }
        let receipts = steps.filter { if case .receipt = $0.request { true } else { false } }
        let moved = receipts.count { $0.isAccepted && !$0.isDuplicate }
        let superseded = receipts.count { $0.reason == "receipt:superseded" }
        report.lines = [
            "\(calls.count) calls, \(calls.count(where: \.isFinal)) of them answered; \(exchanges) exchanges and \(repeats) repeats",
            "\(receipts.count) requests: \(moved) moved a metric, \(superseded) superseded, "
                + "\(receipts.count(where: \.isDuplicate)) of the same second, "
                + "\(receipts.count { $0.reason == "unknown-key" }) of forgotten keys",
        ]
        for line in report.lines + report.findings { say(line) }
        return report
    }
}
