import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Streams
import Testing

/// A worker's own counts beside what its topics have.
@Suite(
    .brokerTests,
    .cluster(),
    .serialized
)
struct MetricsTests {
    static func workplace(_ name: String, port: Int) throws -> ProgramWorkplace {
        try ProgramWorkplace(name, topics: .workplace) {
            $0.members = #""batch": {"records": 200}, "metrics": {"port": \#(port)},"#
        }
    }

    @Test func `a worker's counts are its topics', and its gauges its partitions'`() throws {
        let port = try Int(BrokerPorts.freePort())
        let workplace = try Self.workplace("metrics", port: port)
        try workplace.publish(2_000)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        let results = try workplace.records(of: workplace.topic("results")).count
        let letters = try workplace.records(of: workplace.topic("dead-letters")).count
        var page = ""
        // The library's statistics come every two seconds.
        #expect(
            Deadline.wait(30) {
                page = Curl.page(port, "/metrics").body
                return Curl.sum("attest_requests_total", page) == results
                    && page.split(separator: "\n").count { $0.hasPrefix("attest_consumer_lag_records{") } == 3
                    && Curl.sum("attest_consumer_lag_records", page) == 0
            },
            "\(page)\n\(worker.error)"
        )
        #expect(Curl.sum("attest_dead_letters_total", page) == letters)
        #expect(Curl.sum("attest_partition_committed_offset", page) == 2_000)
        #expect(Curl.sum("attest_answer_age_seconds_count", page) == results)
        #expect(Curl.sum("attest_broker_up", page) >= 1)
        for line in [
            "attest_assigned_partitions 3", #"attest_state{state="running"} 1"#, "attest_partitions_quarantined 0",
            #"attest_rebalances_total{kind="assigned"} 1"#,
        ] { #expect(page.contains(line + "\n"), "\(line)") }
        #expect(Curl.page(port, "/readyz").status == 200 && Curl.page(port, "/healthz").status == 200)
        let status = Curl.page(port, "/status").body
        #expect(status.contains(#""committedOffset":"#) && status.contains(#""state":"running""#), "\(status)")
        worker.expectEnd()
    }

    @Test func `a port in use is a warning, and the work goes on`() throws {
        let other = try FakeBroker()
        defer { other.stop() }
        let port = Int(other.port)
        let workplace = try Self.workplace("metrics-port", port: port)
        try workplace.publish(100)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(worker.says("metrics and health are not served: nothing can listen on 127.0.0.1, port \(port)"))
        try workplace.expectOrder(of: worker)
    }
}
