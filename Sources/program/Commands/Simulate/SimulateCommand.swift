internal import AppAttest
internal import AppCheck
internal import Broker
internal import CommandFrame
internal import DeviceLab
internal import Kafka
internal import KafkaPorts
internal import Lab
internal import Pipeline
internal import Settings
internal import Streams
internal import Telemetry
internal import Traffic

extension Command {
    static let simulate = Command(
        name: "simulate",
        summary: "fake devices write load to a capture or to the requests topic",
        options: [
            .value("--config", "DIR", "the configuration, with its lab authority", .required),
            .flag("--new-config", "first make DIR, as new-config does"),
            .value("--devices", "N", "how many devices", .required),
            .value("--records", "M", "how many records in all; each device attests first, once", .required),
            .value("--verbs", "A,B", "what devices do (verifyAttestation,verifyAssertion)"),
            .value("--faults", "SHARE", "share of faulty records after the first attestations, 0 to 1 (0)"),
            .value("--brokers", "SHARE", "share of devices' keys on hardware that attests for many, 0 to 1 (0)"),
            .value("--seed", "S", "the same DIR, seed and start give the same bytes (1)"),
            .value("--start", "TIME", "the first record's time (by default the last one is now)"),
            .value("--rate", "R", "records are 1/R s apart (1 ms); with --publish, R records are sent each second"),
            .value("--output", "CAPTURE", "write a capture to this file, '-' for standard output"),
            .flag("--publish", "send to the requests topic; the devices' clock is the wall clock"),
            .flag("--live", "with --publish or --via: stock clients that wait for a running worker's answers"),
            .value("--via", "URL", "with --live: the clients call a gateway at this address"),
            .value("--verifier-secret", "FILE", "with --via: the bearer secret of the apps' backends, one line"),
            .value("--ca-file", "FILE", "with --via: PEM certificates that are trusted instead of the system's"),
            .value("--connections", "N", "with --via: open connections at a time, 1 to 60000 (--devices)"),
        ],
        notes: """
            Captures are made for a topic of \(SimulationSettings.capturePartitions) partitions, chosen by murmur2. Each
            record has its own request-id. Faults are of many kinds, including replays, and each is refused. Records of
            the exchange's verbs (generateAppAttestChallenge, exchangeAppAttestAttestation, exchangeAppAttestAssertion,
            verifyAppCheckToken) are sealed with DIR's own keys, as if a worker had answered before, so the capture is
            self-contained. verifyReceipt, where apps keep receipts, sends what Apple would answer: the metric is the number
            of keys on the device's hardware, up to \(FakeFleet.keysPerBroker) of a broker. Tokens of ES256 apps are random, so the bytes of their checks differ from run to run. With
            --live nothing is sealed here: clients that behave like Google's SDK go from challenge to attestation,
            assertions and limited-use tokens with a running worker's answers, until M calls are made. With --via they
            make HTTP calls to a gateway, as the SDK does, and kafka.properties is not needed; without
            --verifier-secret the apps' backends check no tokens. It exits 1 if an answer was another call's.
            """,
        run: { try SimulateCommand($0, $1).run() }
    )
}

/// `simulate`: reads its arguments, makes the traffic, writes or publishes it.
struct SimulateCommand {
    private enum Target {
        case capture(path: String)
        case topic
        case live
        case gateway(GatewayTarget)
    }

    private let directory: String
    private let makesConfiguration: Bool
    private let target: Target
    private let console: Console
    private let connections: Int
    private var settings: SimulationSettings

    init(_ arguments: Arguments, _ console: Console) throws {
        self.console = console
        directory = try arguments.required("--config")
        makesConfiguration = arguments.has("--new-config")
        target = try Self.target(arguments)
        let count = 1...2_000_000_000
        guard let devices = try arguments.integer("--devices", in: count),
            let records = try arguments.integer("--records", in: count)
        else { throw UsageFault("--devices and --records are required.") }
        guard records >= devices else {
            throw UsageFault("--records must be at least --devices (\(devices)): each device attests once.")
        }
        connections = try arguments.integer("--connections", in: 1...60_000) ?? min(devices, 60_000)
        settings = SimulationSettings(devices: devices, records: records)
        settings.verbs = try Self.verbs(arguments)
        settings.faultShare = try arguments.number("--faults", in: 0...1) ?? 0
        settings.brokerShare = try arguments.number("--brokers", in: 0...1) ?? 0
        settings.seed = try arguments.seed("--seed") ?? 1
        settings.rate = try arguments.number("--rate", in: 0.001...10_000_000)
        settings.start = try arguments.time("--start") ?? max(0, Self.now - settings.span)
    }

    func run() throws -> Int32 {
        if makesConfiguration {
            try NewConfiguration.write(to: directory, remedy: "omit --new-config to use it, or name another directory.")
        }
        var files = ConfigurationFiles(directory: directory)
        // Clients of a gateway know no broker.
        if case .gateway = target { files.replacing["kafka.properties"] = [] }
        let configuration = try Configuration.load(files)
        let ca = try NewConfiguration.authority(of: directory)
        let apps = try apps(of: configuration)
        try checkReceipts(apps)
        switch target {
        case .live:
            return try live { meter in
                let tally = try CommandFault.explaining("cannot reach the topics", by: \.description) {
                    try clients.run(configuration, apps, ca, &meter)
                }
                return (tally, nil)
            }
        case .gateway(let target):
            if target.secret == nil {
                console.printError(
                    "simulate: without --verifier-secret no token is checked: only the SDK's calls are made"
                )
            }
            return try live { meter in try clients.run(target, connections: connections, apps, ca, &meter) }
        case .capture, .topic: return try make(configuration, apps, ca)
        }
    }

    /// - Throws: where receipts are to be sent that the worker must refuse, or faults that no verb can have.
    private func checkReceipts(_ apps: [SimulatedApp]) throws {
        guard settings.verbs.contains(.verifyReceipt) else { return }
        if let app = apps.first(where: { !$0.registered.risk.keepsReceipts }) {
            throw ConfigurationFault(
                "apps.json: \(app.name) has risk.mode off, and --verbs has verifyReceipt: set risk.mode, and topics.receipts "
                    + "in worker.json."
            )
        }
        let others = settings.verbs.filter { $0 != .verifyReceipt && !$0.bringsAttestation }
        if settings.faultShare > 0, others.isEmpty {
            throw UsageFault("--faults needs another of the --verbs than attestations and verifyReceipt.")
        }
    }

    private func make(_ configuration: Configuration, _ apps: [SimulatedApp], _ ca: LabCA) throws -> Int32 {
        var settings = settings
        if configuration.challenges.mode == .sealed {
            settings.challengeLife = configuration.challenges.ttlMilliseconds
        }
        let isPlain = settings.verbs.isSubset(of: SimulationSettings.plainVerbs)
        let traffic = SimulatedTraffic(
            apps: apps,
            ca: ca,
            settings: settings,
            seals: isPlain ? nil : try ExchangeSeals(configuration, verbs: settings.verbs, apps: apps),
            topic: RequestTopic(
                murmur2: configuration.topics.requests,
                partitions: SimulationSettings.capturePartitions
            ),
            lanes: Self.lanes
        )
        if case .capture(let path) = target {
            try write(traffic, to: path)
        } else {
            try publish(traffic, configuration)
        }
        return ExitCode.done
    }

    private static var lanes: Int { UsableCores.count }

    private static var now: Int64 { WallClock.milliseconds() }

    private static func target(_ arguments: Arguments) throws -> Target {
        let gateway = try GatewayTarget(arguments)
        if gateway != nil, !arguments.has("--live") {
            throw UsageFault("--via needs --live: only stock clients use HTTP.")
        }
        if arguments.has("--live") {
            for name in ["--output", "--verbs", "--faults", "--brokers", "--start"] where arguments.has(name) {
                throw UsageFault("\(name) cannot be used with --live: the worker's answers decide what is sent.")
            }
            guard arguments.has("--publish") != (gateway != nil) else {
                throw UsageFault("--live needs --publish or --via URL, and not both.")
            }
            return gateway.map(Target.gateway) ?? .live
        }
        switch (arguments.string("--output"), arguments.has("--publish")) {
        case (let path?, false): return .capture(path: path)
        case (nil, true):
            guard !arguments.has("--start") else {
                throw UsageFault("--start cannot be used with --publish: the devices' clock is the wall clock.")
            }
            return .topic
        default: throw UsageFault("give either --output CAPTURE or --publish.")
        }
    }

    private static func verbs(_ arguments: Arguments) throws(UsageFault) -> Set<Verb> {
        guard let text = arguments.string("--verbs") else { return SimulationSettings.plainVerbs }
        let verbs = Verb.simulatedWithReceipts
        let chosen = try text.split(separator: ",", omittingEmptySubsequences: false).map { name throws(UsageFault) in
            guard let verb = verbs.first(where: { $0.rawValue == name }) else {
                let known = verbs.map(\.rawValue)
                throw UsageFault(
                    "--verbs: '\(String(name).printable)' cannot be simulated"
                        + "\(Suggestion.ending(for: String(name), among: known)) Use \(known.joined(separator: ","))."
                )
            }
            return verb
        }
        return Set(chosen)
    }

    /// All apps of the configuration, each of which must accept some fake device.
    private func apps(of configuration: Configuration) throws(ConfigurationFault) -> [SimulatedApp] {
        let apps = try configuration.registry.apps.map { app throws(ConfigurationFault) in
            guard let simulated = SimulatedApp(app) else {
                throw ConfigurationFault(
                    "apps.json: no fake device can satisfy \(app.name): give it an App ID and rules that a device can "
                        + "meet."
                )
            }
            return simulated
        }
        guard !apps.isEmpty else { throw ConfigurationFault("apps.json: has no app; add one for the devices.") }
        return apps
    }

    private func write(_ traffic: SimulatedTraffic, to path: String) throws {
        // The exchange's records hold artifacts, challenges and tokens.
        let isPlain = settings.verbs.isSubset(of: SimulationSettings.plainVerbs)
        let file = try CaptureWriter(path: path, holds: isPlain ? .plain : .secret, lanes: Self.lanes)
        var meter = ProgressMeter("simulate", unit: "record", total: settings.records, console: console)
        while true {
            let records = traffic.make()
            guard !records.isEmpty else { break }
            try file.write(records)
            meter.update(traffic.made)
        }
        try file.close()
        meter.finish()
        say("wrote \(traffic.made.counted("record")) of \(settings.devices.counted("device")) to \(path)")
    }

    /// Prints a result on standard output, unless the capture goes there.
    private func say(_ line: String) {
        if case .capture(path: "-") = target { return console.printError(line) }
        console.print(line)
    }

    private var clients: Live {
        Live(devices: settings.devices, records: settings.records, seed: settings.seed, rate: settings.rate)
    }

    /// - Parameter run: lets the clients make their calls; over HTTP it gives the connections' account too.
    private func live(_ run: (inout ProgressMeter) throws -> (StockTally, LinkAccount?)) throws -> Int32 {
        var meter = ProgressMeter("simulate", unit: "call", total: settings.records, console: console)
        let (tally, account) = try run(&meter)
        meter.finish()
        if let account {
            for line in account.lines { say(line) }
            try Self.account(account)
        }
        for line in try Self.account(tally, devices: settings.devices) { say(line) }
        try Self.requireTokens(tally)
        return ExitCode.done
    }

    private func publish(_ traffic: SimulatedTraffic, _ configuration: Configuration) throws {
        let trouble = "cannot publish to \(configuration.topics.requests)"
        let report = try CommandFault.explaining(trouble, by: \.description) { try send(traffic, configuration) }
        guard report.isComplete else {
            let cause = report.firstFailure ?? "no acknowledgement"
            throw CommandFault(
                "\(report.failed.grouped) of \(settings.records.counted("record")) were not acknowledged (\(cause)): "
                    + "check the broker and kafka.properties."
            )
        }
        say("published \(report.acknowledged.counted("record")) of \(settings.devices.counted("device"))")
    }

    private func send(_ traffic: SimulatedTraffic, _ configuration: Configuration) throws -> PublishReport {
        var options = CapturePublisher.Options()
        options.recordsPerSecond = settings.rate
        let publisher = try CapturePublisher(
            properties: try configuration.brokerProperties(),
            topic: configuration.topics.requests,
            options: options
        )
        var meter = ProgressMeter("simulate", unit: "record", total: settings.records, console: console)
        // Small chunks when paced: the devices' clock must not run ahead of the wall clock.
        let limit = settings.rate.map { min(SimulatedTraffic.chunk, max(1, Int($0 / 10))) } ?? SimulatedTraffic.chunk
        var ready: ArraySlice<InboundRecord> = []
        let waiting = { (fault: KafkaFault) in console.printError(ConnectionWords(fault.message).waiting) }
        let report = try publisher.publish(waiting: waiting) {
            if ready.isEmpty {
                ready = traffic.make(limit, clock: EvaluationTime(milliseconds: Self.now))[...]
                meter.update(traffic.made)
            }
            return ready.popFirst().map { PublishRecord(key: $0.key, value: $0.value, headers: $0.headers) }
        }
        meter.finish()
        return report
    }
}
