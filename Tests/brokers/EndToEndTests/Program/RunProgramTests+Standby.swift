import BrokerKit
import ChaosKit
import Foundation
import TestKit
import Testing

extension RunProgramTests {
    /// The values of a family's series; nothing where there are none.
    private static func values(_ family: String, _ port: Int) -> [Double] {
        Curl.page(port, "/metrics").body.split(separator: "\n").compactMap { line in
            line.hasPrefix(family + "{") ? line.split(separator: " ").last.flatMap { Double($0) } : nil
        }
    }

    @Test func `a worker takes over what it has followed, and reads the tail alone`() throws {
        let ports = [try Int(BrokerPorts.freePort()), try Int(BrokerPorts.freePort())]
        let workplace = try ProgramWorkplace("standby") {
            $0.members = #""state": {"standby": true}, "batch": {"records": 50}, "metrics": {"port": \#(ports[0])},"#
        }
        var total = 0
        func send(_ seed: Int) throws {
            try workplace.simulate(devices: 30, records: 600, seed: seed)
            total += 600
        }
        try send(1)
        let one = try workplace.start("run", "--instance", "one")
        #expect(try workplace.hasOutcomes(total, of: [one]), "\(one.error)")
        try workplace.edit("config/worker.json", "\(ports[0])", "\(ports[1])")
        let two = try workplace.start("run", "--instance", "two")
        // Of three partitions the first of two workers has two.
        func followed() -> [[Double]] { ports.map { Self.values("attest_standby_lag_records", $0) } }
        #expect(eventually(followed, until: { $0 == [[0], [0, 0]] }), "\(followed()) \(one.error) \(two.error)")
        try send(2)
        #expect(try workplace.hasOutcomes(total, of: [one, two]), "\(two.error)")
        one.signal(SIGKILL)
        _ = one.waitForEnd()
        try send(3)
        #expect(try workplace.hasOutcomes(total, of: [two]), "\(two.error)")
        let restored = Curl.page(ports[1], "/metrics").body
        #expect(restored.contains(#"attest_ledger_restores_total{source="standby"} 2"#), "\(restored)")
        #expect(Curl.page(ports[1], "/status").body.contains(#""partitions""#))
        two.expectEnd()
        let outcomes = try Outcomes(of: workplace)
        #expect(outcomes.counts["accepted"] == total, "\(outcomes.counts)")
    }
}
