internal import JSON
internal import Streams
internal import TestKit
import Testing

@Suite("simulate --brokers")
struct BrokerSimulateTests {
    private static let load = ["--devices", "40", "--records", "400", "--start", "2026-11-20T12:00:00Z"]

    @Test func `a share of 0 changes no byte, and a greater one does`() throws {
        let folder = try SimulationFolder.configured()
        let plain = try folder.capture(Self.load)
        #expect(try folder.capture(Self.load + ["--brokers", "0"]) == plain)
        let brokers = try folder.capture(Self.load + ["--brokers", "0.3"])
        #expect(brokers.map(\.key) == plain.map(\.key) && brokers != plain)
    }

    @Test func `brokers' metrics are the keys of their hardware, and a refusing app refuses them alone`() throws {
        let folder = try SimulationFolder.configured(mostServed: 5)
        let verbs = ["--verbs", "verifyAssertion,verifyReceipt"]
        _ = try folder.capture(Self.load + ["--brokers", "0.3"] + verbs)
        let mixed = try folder.outcomes()
        #expect(Set(mixed.values) == ["accepted", "risk-too-high"])
        var metrics: [String: Int64] = [:]
        for record in try folder.captured("out/events.ndjson") {
            let event = try record.json
            guard let device = event["device"]?.string, let metric = event["metric"]?.integer else { continue }
            metrics[device] = metric
        }
        #expect(Set(metrics.values) == [1, 12])
        _ = try folder.capture(Self.load + verbs)
        #expect(Set(try folder.outcomes().values) == ["accepted"])
    }

    @Test func `receipts need apps that keep them, and faults a verb that can have them`() throws {
        let folder = try SimulationFolder.configured()
        let off = folder.simulate(SimulationFolder.least + ["--verbs", "verifyReceipt"])
        #expect(off.code == 2 && off.transcript.error.contains("risk.mode off"))
        let verbs = ["--verbs", "verifyAttestation,verifyReceipt", "--faults", "0.1"]
        let faults = try SimulationFolder.configured(mostServed: 5).simulate(SimulationFolder.least + verbs)
        #expect(faults.code == 2 && faults.transcript.error.contains("--faults needs another"))
    }

    @Test func `faults beside receipts are refused as they are without`() throws {
        let folder = try SimulationFolder.configured(mostServed: 5)
        _ = try folder.capture(Self.load + ["--verbs", "verifyAssertion,verifyReceipt", "--faults", "0.3"])
        let outcomes = try folder.outcomes().values
        #expect(outcomes.contains("accepted") && outcomes.contains { $0 != "accepted" })
        #expect(!outcomes.contains("risk-too-high") && !outcomes.contains { $0.hasPrefix("receipt:") })
    }
}
