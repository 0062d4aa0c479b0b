import BrokerKit
import ChaosKit
import Foundation
import TestKit
import Testing

/// A Prometheus server that scrapes each second.
private struct Prometheus {
    static let program = KafkaInstallation.executable("prometheus")

    let address: String
    private let process: ProgramProcess

    init(scraping ports: [Int], on own: Int, in workplace: ProgramWorkplace) throws {
        address = "http://127.0.0.1:\(own)"
        let targets = ports.map { #""127.0.0.1:\#($0)""# }.joined(separator: ", ")
        let configuration = """
            global: {scrape_interval: 1s, evaluation_interval: 1s}
            rule_files: ["\(Self.observability)/rules.yml"]
            scrape_configs: [{job_name: attest-worker, static_configs: [{targets: [\(targets)]}]}]
            """
        try workplace.write(configuration, to: "prometheus.yml")
        let arguments = [
            "--config.file=" + workplace.file("prometheus.yml"), "--storage.tsdb.path=" + workplace.file("prometheus"),
            "--web.listen-address=127.0.0.1:\(own)", "--log.level=error",
        ]
        process = try ProgramProcess(arguments, streams: workplace.file("server"), program: Self.program)
    }

    static var observability: String { PackageFolder.url.appending(path: "Config/observability").path() }

    /// Tries every query of the dashboard.
    ///
    /// - Returns: its exit code, and each query with the number of its series.
    func queries(_ folder: String) -> (code: Int32, queries: [(text: String, series: Int)]) {
        let run = PythonLab.run([
            "python3", Self.observability + "/draw-dashboard.py", "--prometheus", address, "--output",
            folder + "/dashboard.html", "--last", "1m", "--scrape-interval", "1", "--list",
        ])
        let text = String(decoding: run.output, as: UTF8.self)
        let queries = text.split(separator: "\n").compactMap { line -> (String, Int)? in
            let parts = line.split(separator: "\t", maxSplits: 2)
            guard parts.count == 3, let series = Int(parts[0]) else { return nil }
            return (String(parts[2]), series)
        }
        return (run.code, queries)
    }
}

extension MetricsTests {
    /// What does not happen under this load: series that come with an event, one that needs two minutes, and those of
    /// receipts.
    private static let silent = [
        "attest_aborts_total", "attest_rebalances_total", "attest_partitions_quarantined", "attest_broker_errors_total",
        "attest_broker_throttle_seconds_total",
        "attest_records_lost_total", "attest_engine_disagreements_total", "attest_rollout_decisions_total",
        "attest_partition_unstable_records", "attest_restored_keys_total", "attest_outdated_clients_total",
        "attest_stage_seconds_total", "attest_risk_",
    ]

    @Test(
        .enabled(if: Prometheus.program != nil, "prometheus is not installed: Debian's package has that name")
    )
    func `a real Prometheus answers every query of the dashboard from a worker and a gateway under load`() throws {
        let ports = try (0..<3).map { _ in try Int(BrokerPorts.freePort()) }
        let workplace = try Self.workplace("dashboard", port: ports[0])
        let prometheus = try Prometheus(scraping: Array(ports[0...1]), on: ports[2], in: workplace)
        let gateway = try MeasuredGateway(beside: workplace, metrics: ports[1])
        #expect(try gateway.late() == 504)
        let worker = try workplace.start("run", "--instance", "one")
        let verbs =
            "generateAppAttestChallenge,exchangeAppAttestAttestation,exchangeAppAttestAssertion,verifyAppCheckToken"
        // Load over more scrapes than a rate needs.
        for seed in 1...5 as ClosedRange<UInt64> {
            try workplace.publish(300, seed: seed)
            try workplace.simulate(devices: 10, records: 60, seed: Int(seed), verbs: verbs)
            #expect(try gateway.load(seed: seed) == ["404", "400"], "\(gateway.process.error)")
            #expect(try workplace.drains(seconds: 60) { worker.isRunning }, "\(worker.error)")
            Thread.sleep(forTimeInterval: 1)
        }
        var answer: (code: Int32, queries: [(text: String, series: Int)]) = (1, [])
        func unanswered() -> [String] {
            answer.queries.filter { query in query.series == 0 && !Self.silent.contains { query.text.contains($0) } }
                .map(\.text)
        }
        #expect(
            Deadline.wait(20) {
                answer = prometheus.queries(workplace.folder)
                return answer.code == 0 && unanswered().isEmpty
            },
            "\(unanswered())"
        )
        #expect(answer.queries.count > 60)
        #expect(try workplace.bytes("dashboard.html").count > 20_000)
        gateway.process.expectEnd()
        worker.expectEnd()
    }
}
