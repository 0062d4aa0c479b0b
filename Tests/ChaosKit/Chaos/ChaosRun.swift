package import BrokerKit
internal import Foundation
internal import Kafka
internal import Pipeline
internal import Streams

/// Workers, brokers and fake devices under a schedule of faults, and then the check.
package final class ChaosRun {
    let settings: ChaosSettings
    private let print: (String) -> Void
    private let begin = ContinuousClock.now
    let cluster: RealCluster
    let workplace: ProgramWorkplace
    let producer: ChaosProducer
    let crew: ChaosCrew
    private let brokers: ChaosBrokers
    private let network: ChaosNetwork?
    let gates: ChaosGates?
    let clients: ChaosClients?
    let person: ChaosOperator
    private var report: ChaosReport
    /// What is there before the run's own requests.
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
        (self.settings, self.print) = (settings, print)
        var ofCluster = ClusterSettings(brokers: settings.brokers)
        if settings.needsNetwork { ofCluster.proxy = { try NetworkProxy($0) } }
        ofCluster.folder = settings.keep.map { URL(fileURLWithPath: $0) }
        cluster = try RealCluster(installation, ofCluster)
        workplace = try ProgramWorkplace(
            servers: cluster.bootstrapServers,
            settings.workplace(servers: settings.hasNetwork ? cluster.network?.bootstrapServers : nil)
        )
        try ChaosKeys.setChallengeLife(workplace.config, seconds: settings.challengeSeconds)
        producer = ChaosProducer(
            workplace.properties,
            topic: workplace.requests,
            partitions: settings.partitions,
            allowed: settings.requests(at: 0)
        )
        report = ChaosReport(settings: settings)
        let start = begin
        let log = { (line: String) in print("\((ContinuousClock.now - start).text)  \(line)") }
        crew = ChaosCrew(settings, workplace, log: log)
        brokers = ChaosBrokers(cluster, log: log)
        let network = cluster.network.map { ChaosNetwork($0) }
        self.network = network
        if settings.gateways > 0 {
            if settings.hasReplies { try workplace.addReplies(partitions: settings.gateways) }
            let servers = cluster.network?.bootstrapServers
            gates = try ChaosGates(settings, workplace, network, via: servers, log: log)
            clients = ChaosClients(settings)
        } else {
            (gates, clients) = (nil, nil)
        }
        person = ChaosOperator(cluster, workplace, log: log)
    }

    deinit {
        producer.stop()
        clients?.stop()
        cluster.stop()
    }

    /// Does the whole run and checks it.
    package func run() throws -> ChaosReport {
        say("brokers at \(cluster.bootstrapServers), folder \(workplace.folder)")
        if settings.recreatesTopics { try recreateTopics() } else { try startTraffic() }
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
            ChaosTraffic(
                ca: ca,
                seed: settings.seed,
                requests: settings.requests,
                devices: settings.deviceCount,
                faultShare: settings.faultShare,
                hostileShare: settings.hostileShare,
                exchange: settings.exchangeShare > 0 ? ChaosExchangeTraffic(keys, ca: ca, settings) : nil,
                exchangeShare: settings.exchangeShare
            )
        }
    }

    func say(_ line: String) { print("\((ContinuousClock.now - begin).text)  \(line)") }

    // MARK: Faults

    private func doFaults() throws {
        let plan = ChaosPlan.faults(settings.faults, seed: settings.seed, of: settings.faultKinds)
        if !settings.isPaced { try awaitFirstOutcomes() }
        let interval = Duration.seconds(settings.secondsBetweenFaults)
        for (index, planned) in plan.enumerated() {
            let start = ContinuousClock.now
            while ContinuousClock.now < start + interval {
                try tick()
                let part = min(1, (ContinuousClock.now - start) / interval)
                producer.allow(settings.requests(at: (Double(index) + part) / Double(plan.count)))
                clients?.allow((Double(index) + part) / Double(plan.count) * Self.clientsShare)
            }
            // Where no worker or broker fits now, the fault waits until one does.
            var done = try apply(planned)
            while done == nil {
                try tick()
                done = try apply(planned)
            }
            report.faults[planned.fault, default: 0] += 1
            lastFault = .now
            say("\(index + 1) of \(plan.count): \(done ?? "") (\(producer.status.acknowledged) requests sent)")
        }
    }

    /// Faults would be wasted on workers that have not begun.
    private func awaitFirstOutcomes() throws {
        let (topic, properties) = (workplace.topic("results"), workplace.properties)
        let deadline = ContinuousClock.now + Self.timeBudget
        while ContinuousClock.now < deadline {
            try tick()
            let ends = try TopicDump.ends(of: topic, properties, partitions: settings.partitions)
            if ends.values.contains(where: { $0.committed > 0 }) { return }
        }
        throw ClusterFault(description: "the workers answer nothing")
    }

    private func apply(_ planned: PlannedFault) throws -> String? {
        if planned.fault.isNetworks {
            guard let network else { throw ClusterFault(description: "\(planned.fault) needs a network") }
            return network.apply(planned)
        }
        if planned.fault.isGateways { return try gates?.apply(planned) }
        if planned.fault.isOperators {
            guard crew.isWhole, brokers.isWhole, network?.isClear ?? true else { return nil }
            return try person.apply(planned, crew, tick: tick)
        }
        if planned.fault.isBrokers {
            let done = try brokers.apply(planned)
            guard done != nil, planned.fault == .killWorkerInPause else { return done }
            return [done, try crew.apply(planned)].compactMap(\.self).joined(separator: ", ")
        }
        if let done = try crew.apply(planned) { return done }
        // Where no worker can be added, one is removed instead, and the other way round.
        switch planned.fault {
        case .scaleUp where crew.isWhole: return try crew.apply(PlannedFault(.scaleDown, planned))
        case .scaleDown where crew.isWhole: return try crew.apply(PlannedFault(.scaleUp, planned))
        default: return nil
        }
    }

    func tick() throws {
        let healed = [
            try crew.tick(), try brokers.tick(), try person.tick(), network?.tick() ?? false,
            try gates?.crew.tick() ?? false,
        ]
        if healed.contains(true) { lastFault = .now }
        usleep(Self.tickMicroseconds)
    }

    /// Waits until nothing is down, paused or ending.
    private func heal() throws {
        network?.clear()
        let deadline = ContinuousClock.now + Self.timeBudget
        while !(crew.isWhole && brokers.isWhole && person.isDone && gates?.crew.isWhole ?? true) {
            try tick()
            guard ContinuousClock.now < deadline else { throw ClusterFault(description: "not all came back") }
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

    /// One more request on each partition, in batches of their own: what a partition's last batch used up and saw expire
    /// only a further batch forgets.
    private func close() throws {
        guard report.drainSeconds != nil, settings.exchangeShare > 0 else { return }
        let last = try Producer(workplace.properties)
        for partition in 0..<settings.partitions {
            let request = ChaosExchangeTraffic.closing(partition)
            try last.produce(
                topic: workplace.requests,
                partition: partition,
                key: request.key,
                value: request.value,
                headers: request.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
            )
        }
        try last.flush(timeoutMilliseconds: 60_000)
        report.closing = Int(settings.partitions)
        let watch = workplace.drainWatch()
        let deadline = ContinuousClock.now + Self.timeBudget
        while try !watch.isDrained(), ContinuousClock.now < deadline { try tick() }
    }

    /// Requests that are not paced by the faults may still come for a while after the last one.
    private var sendingTime: Duration { settings.isPaced ? .zero : .seconds(settings.requests / 500) }

    private func check() throws {
        say("checking")
        let reader = ChaosReader(workplace: workplace, before: before)
        let reading = try reader.read()
        report.requests = reading.evidence.requests.count - report.closing
        report.uncertain = producer.status.uncertain
        report.outcomes = reading.evidence.outcomes.count
        report.unseen = reading.unseen
        report.clients = clients?.report
        var evidence = reading.evidence
        evidence.clients = clients?.report
        report.findings = ChaosChecker.check(evidence)
        if !report.findings.differing.isEmpty {
            for line in try reader.lines(of: report.findings.differing) { report.findings.explain(.bytesDiffer, line) }
        }
        report.note(reading.evidence)
        for place in reading.open { report.findings.add(.openTransaction, place) }
        report.ends = crew.findings + brokers.findings
        report.gatewayEnds = gates?.crew.findings ?? []
        report.unheeded = person.findings
        report.late = network?.late ?? []
        report.longestEndingSeconds = crew.longestEnding / .seconds(1)
        report.producerRenewals = producer.status.renewals
        report.producerFault = producer.status.fault
        report.seconds = (.now - begin) / .seconds(1)
    }
}

extension PlannedFault {
    /// Another fault with the same chances.
    fileprivate init(_ fault: ChaosFault, _ other: PlannedFault) {
        self.init(fault: fault, target: other.target, length: other.length)
    }
}
