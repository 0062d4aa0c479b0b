package import BrokerKit
internal import Foundation
internal import TestKit

/// Workers, brokers and fake devices under a schedule of faults, and then the check.
package final class ChaosRun {
    let settings: ChaosSettings
    let begin = ContinuousClock.now
    /// Takes a line, and adds the time.
    let say: (String) -> Void
    let cluster: RealCluster
    let workplace: ProgramWorkplace
    let producer: ChaosProducer
    let crew: ChaosCrew
    let brokers: ChaosBrokers
    private let disks: ChaosDisks
    let network: ChaosNetwork?
    /// nil = all processes have the machine's clock.
    let clocks: ChaosClocks?
    let gates: ChaosGates?
    let clients: ChaosClients?
    let person: ChaosOperator
    var report: ChaosReport
    /// From the first worker's start on.
    private(set) var watch: ChaosWatch?
    private(set) var deeds: [ChaosSilences.Deed] = []
    var before = ChaosBefore()
    var lastFault = ContinuousClock.now

    private static let tickMicroseconds: UInt32 = 20_000
    /// Longest time for everything to come back after the last fault.
    static let timeBudget = Duration.seconds(300)

    /// Starts a cluster, makes topics and a configuration; no worker runs yet.
    ///
    /// - Parameter print: takes the run's progress, a line each.
    package init(
        _ installation: KafkaInstallation,
        _ settings: ChaosSettings,
        print: @escaping (String) -> Void = { _ in }
    ) throws {
        var settings = settings
        if settings.hasClocks, ClockShim.compiler == nil {
            print(ClockShim.whyMissing)
            settings.leaveClocksAlone()
        }
        self.settings = settings
        say = { [begin] line in print("\((ContinuousClock.now - begin).text)  \(line)") }
        let shim = settings.hasClocks ? try ClockShim(keep: settings.keep.map { $0 + "/clocks" }) : nil
        var ofCluster = ClusterSettings(brokers: settings.brokers)
        if settings.needsNetwork { ofCluster.proxy = { try NetworkProxy($0) } }
        ofCluster.clocks = shim
        ofCluster.folder = settings.keep.map { URL(fileURLWithPath: $0) }
        cluster = try RealCluster(installation, ofCluster)
        workplace = try ProgramWorkplace(
            servers: cluster.bootstrapServers,
            settings.workplace(servers: settings.hasNetwork ? cluster.network?.bootstrapServers : nil)
        )
        let life = #""challenges": {"ttl": "\#(settings.challengeSeconds)s", "#
        try workplace.edit("config/worker.json", #""challenges": {"#, life)
        producer = ChaosProducer(
            workplace.properties,
            topic: workplace.requests,
            partitions: settings.partitions,
            allowed: settings.requests(at: 0)
        )
        report = ChaosReport(settings: settings)
        let names = (1...settings.workers + settings.spareWorkers).map { "w\($0)" }
        let clocks = try shim.map { [cluster, workplace] in try ChaosClocks($0, cluster, workplace, workers: names) }
        self.clocks = clocks
        crew = ChaosCrew(settings, names, atStart: settings.workers, in: workplace.folder, log: say) { [workplace] in
            try clocks?.start($0, streams: $1)
                ?? ProgramProcess(["run", "--config", workplace.config, "--instance", $0], streams: $1)
        }
        disks = ChaosDisks(workplace)
        crew.hunt = TransactionHunt(TransactionQuestion(servers: cluster.bootstrapServers), group: workplace.group)
        brokers = ChaosBrokers(cluster, log: say)
        let network = cluster.network.map { ChaosNetwork($0) }
        self.network = network
        if settings.gateways > 0 {
            if settings.hasReplies { try workplace.createTopics(["replies"], partitions: settings.gateways) }
            let servers = cluster.network?.bootstrapServers
            gates = try ChaosGates(settings, workplace, network, via: servers, log: say)
            clients = ChaosClients(settings)
        } else {
            (gates, clients) = (nil, nil)
        }
        person = ChaosOperator(cluster, workplace, log: say)
    }

    deinit {
        producer.stop()
        clients?.stop()
        watch?.stop()
        cluster.stop()
    }

    package func run() throws -> ChaosReport {
        say("brokers at \(cluster.bootstrapServers), folder \(workplace.folder)")
        if settings.recreatesTopics { try recreateTopics() } else { try startTraffic() }
        let watch = ChaosWatch(workplace, before: before)
        self.watch = watch
        watch.start()
        try crew.start()
        try startClients()
        try doFaults()
        try heal()
        try finishClients()
        try drain()
        try close()
        try gates?.finish()
        try crew.finish()
        try check()
        return report
    }

    /// Makes requests from now on, as many as the producer is allowed to send.
    func startTraffic() throws {
        let (ca, settings, keys) = (workplace.ca, settings, try ChaosKeys(workplace.config))
        producer.start {
            let exchange = settings.exchangeShare > 0 ? ChaosExchangeTraffic(keys, ca: ca, settings) : nil
            return try ChaosTraffic(ca: ca, settings, exchange: exchange)
        }
    }

    // MARK: Faults

    private func doFaults() throws {
        let plan = ChaosPlan.faults(settings.faults, seed: settings.seed, of: settings.faultKinds)
        if !settings.isPaced {
            // Faults would be wasted on workers that have not begun.
            try wait(or: "the workers answer nothing") {
                try workplace.ends(of: workplace.topic("results")).values.contains { $0.committed > 0 }
            }
        }
        let interval = Duration.seconds(settings.secondsBetweenFaults)
        for (index, planned) in plan.enumerated() {
            let start = ContinuousClock.now
            while ContinuousClock.now < start + interval {
                try tick()
                let part = min(1, (ContinuousClock.now - start) / interval)
                producer.allow(settings.requests(at: (Double(index) + part) / Double(plan.count)))
                clients?.allow((Double(index) + part) / Double(plan.count) * Self.clientsShare)
            }
            let done = try applyWhenPossible(planned, settings.requests(at: Double(index + 1) / Double(plan.count)))
            report.faults[planned.fault, default: 0] += 1
            lastFault = .now
            say("\(index + 1) of \(plan.count): \(done) (\(producer.status.acknowledged) requests sent)")
        }
    }

    /// Where no worker or broker fits now, the fault waits until one does.
    ///
    /// - Parameter sent: the requests that may have been sent by now.
    private func applyWhenPossible(_ planned: PlannedFault, _ sent: Int) throws -> String {
        var tries = 0
        while true {
            defer { tries += 1 }
            // Before it: an operator's deed takes its time.
            let at = watch?.now ?? 0
            if let done = try apply(planned) {
                deeds.append(ChaosSilences.Deed(planned.fault.rawValue, at: at))
                return done
            }
            if planned.fault == .killWorkerInTransaction {
                producer.allow(min(settings.requests, sent + (tries + 1) * settings.spareRequests / 100))
            }
            try tick()
        }
    }

    private func apply(_ planned: PlannedFault) throws -> String? {
        switch planned.fault.side {
        case .network:
            guard let network else { throw ClusterFault(description: "\(planned.fault) needs a network") }
            return network.apply(planned)
        case .clocks:
            guard let clocks else { throw ClusterFault(description: "\(planned.fault) needs clocks") }
            return try clocks.apply(planned, running: crew.runningWorkers)
        case .gateways: return try gates?.apply(planned)
        case .disks: return try disks.apply(planned, crew)
        case .person:
            guard crew.isWhole, brokers.isWhole, network?.isClear ?? true else { return nil }
            return try person.apply(planned, crew, tick: tick)
        case .brokers:
            let done = try brokers.apply(planned)
            guard done != nil, planned.fault == .killWorkerInPause else { return done }
            return [done, try crew.apply(planned)].compactMap(\.self).joined(separator: ", ")
        case .workers: break
        }
        if let done = try crew.apply(planned) { return done }
        // Where no worker can be added, one is removed instead, and the other way round.
        guard crew.isWhole, [.scaleUp, .scaleDown].contains(planned.fault) else { return nil }
        var other = planned
        other.fault = planned.fault == .scaleUp ? .scaleDown : .scaleUp
        return try crew.apply(other)
    }

    func tick() throws {
        let healed = [
            try crew.tick(), try brokers.tick(), try person.tick(), network?.tick() ?? false,
            try gates?.crew.tick() ?? false, try clocks?.tick() ?? false,
        ]
        if healed.contains(true) { lastFault = .now }
        usleep(Self.tickMicroseconds)
    }

    /// Waits until nothing is down, paused or ending.
    private func heal() throws {
        network?.clear()
        try wait(or: "not all came back") {
            crew.isWhole && brokers.isWhole && person.isDone && gates?.crew.isWhole ?? true && clocks?.isRight ?? true
        }
    }

    func wait(or failure: String, until isTrue: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + Self.timeBudget
        while try !isTrue() {
            try tick()
            guard ContinuousClock.now < deadline else { throw ClusterFault(description: failure) }
        }
    }

    // MARK: Afterwards

    /// Waits until the group has committed all that the topic holds.
    private func drain() throws {
        producer.allow(settings.requests)
        say("no more faults; \(producer.status.acknowledged) requests sent")
        let watch = workplace.drainWatch()
        let deadline = lastFault + max(.seconds(2 * settings.drainSeconds), .seconds(30)) + sendingTime
        while ContinuousClock.now < deadline {
            for _ in 0..<10 { try tick() }
            let status = producer.status
            guard status.isDone, try watch.isDrained() else { continue }
            report.drainSeconds = max(0, (.now - lastFault) / .seconds(1))
            report.secondsAfterLastRequest = status.end.map { max(0, (.now - $0) / .seconds(1)) }
            say("drained \((.now - lastFault).text) after the last fault")
            return
        }
        producer.stop()
        say("NOT drained")
    }

    /// Requests that are not paced by the faults may still come for a while after the last one.
    private var sendingTime: Duration { settings.isPaced ? .zero : .seconds(settings.requests / 500) }
}
