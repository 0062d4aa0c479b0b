internal import AppCheck
package import CommandFrame
internal import Pipeline
internal import Reports
internal import Settings
internal import Streams
internal import Traffic

extension Demo {
    /// Closes the clients, reads the outputs back and prints what became of everything.
    ///
    /// - Returns: the exit code: 0 when every outcome is the expected one.
    func account(
        _ traffic: DemoTraffic,
        _ clients: DemoClients,
        _ tally: LoopTally,
        _ stage: DemoStage
    ) throws -> Int32 {
        try clients.fleet.close()
        try clients.web.close()
        let calls = clients.risk.close()
        let deadLetters = tally.deadLettersTotal
        let outputs = try stage.outputs([.results: tally.requests - deadLetters, .deadLetters: deadLetters])
        var report = RiskReport(stage.configuration.registry, limit: nil, since: nil)
        for event in try stage.events(untilRisk: clients.risk.answers) { report.add(event) }
        let code = DemoAccount(traffic: traffic, outputs: outputs, tally: tally, partitions: stage.partitions)
            .print(on: console)
        let exchange = DemoExchange(fleet: clients.fleet, keySet: stage.loaded.keys.rings.tokens.jsonWebKeySet)
        let climb = DemoRiskAccount(clients.risk.device, outputs: outputs, calls: calls, report: report)
        let codes = [code, exchange.print(on: console), clients.web.print(on: console), climb.print(on: console)]
        if let page {
            try page.write(report.report(version: AttestWorker.version, source: "the demo's events").html)
            try page.close()
        }
        return codes.max() ?? ExitCode.failed
    }

    /// Devices that go on at the user's own broker, once the page that shows them is named.
    func live(_ site: DemoSite, _ stage: DemoStage) throws -> DemoLive {
        let end = site.seconds.map { "for \($0) s" } ?? "until Ctrl-C"
        let devices = site.seconds == 0 ? "" : "A few devices keep sending \(end). "
        console.print("\n\(devices)The worker's metrics: \(site.metricsAddress)/metrics")
        console.print("State for people: \(site.metricsAddress)/status")
        let link = try stage.link()
        return DemoLive(seconds: site.seconds) { seed in
            stage.fleet(of: DemoLive.devices, seed: seed, link: link, prefix: "live-\(seed)")
        }
    }
}

extension Command {
    package static let demo = Command(
        name: "demo",
        summary: "fake devices, a broker and the real worker, without any setup",
        options: [
            .value("--report", "FILE", "write the page of the demo's risk metrics as well"),
            .value("--broker", "HOST:PORT", "a Kafka of your own instead of the broker inside the process"),
            .value("--properties", "FILE", "lines of kafka.properties that this Kafka needs, such as TLS and SASL"),
            .value("--seconds", "N", "how long devices go on after the account; until Ctrl-C on a terminal, else 0"),
        ],
        notes: """
            With --broker the demo makes topics and groups under a new name, works in real transactions, explains \
            one refusal and names its metrics page. SIGINT, SIGTERM or the end of --seconds: the topics and groups are \
            removed.
            """
    ) { arguments, console in
        let seconds = try arguments.integer("--seconds", in: 0...86_400) ?? (console.isTerminal ? nil : 0)
        let brokers = arguments.string("--broker")
        for option in ["--properties", "--seconds"] where brokers == nil && arguments.has(option) {
            throw UsageFault("\(option) is for --broker.")
        }
        let site = try brokers.map {
            try DemoSite(brokers: $0, properties: arguments.string("--properties"), seconds: seconds)
        }
        let page = try arguments.string("--report").map { try OutputFile($0) }
        return try Demo(console: console, page: page, site: site).run()
    }
}
