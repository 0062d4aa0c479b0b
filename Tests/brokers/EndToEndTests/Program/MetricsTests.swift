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

    static func get(_ port: Int, _ path: String) -> (status: String, body: String)? {
        let answer = Curl.call("http://127.0.0.1:\(port)\(path)")
        return answer.status == 0 ? nil : (String(answer.status), answer.body)
    }

    /// The sum of a family's series.
    static func sum(_ family: String, _ page: String) -> Int {
        page.split(separator: "\n").filter { $0.hasPrefix(family + "{") || $0.hasPrefix(family + " ") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
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
                page = Self.get(port, "/metrics")?.body ?? ""
                return Self.sum("attest_requests_total", page) == results
                    && page.split(separator: "\n").count { $0.hasPrefix("attest_consumer_lag_records{") } == 3
                    && Self.sum("attest_consumer_lag_records", page) == 0
            },
            "\(page)\n\(worker.error)"
        )
        #expect(Self.sum("attest_dead_letters_total", page) == letters)
        #expect(Self.sum("attest_partition_committed_offset", page) == 2_000)
        #expect(Self.sum("attest_answer_age_seconds_count", page) == results)
        #expect(Self.sum("attest_broker_up", page) >= 1)
        for line in [
            "attest_assigned_partitions 3", #"attest_state{state="running"} 1"#, "attest_partitions_quarantined 0",
            #"attest_rebalances_total{kind="assigned"} 1"#,
        ] { #expect(page.contains(line + "\n"), "\(line)") }
        #expect(Self.get(port, "/readyz")?.status == "200" && Self.get(port, "/healthz")?.status == "200")
        let status = Self.get(port, "/status")?.body ?? ""
        #expect(status.contains(#""committedOffset":"#) && status.contains(#""state":"running""#), "\(status)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
    }

    @Test func `a port in use is a warning, and the work goes on`() throws {
        let port = try Int(BrokerPorts.freePort())
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        // As above.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    && listen(descriptor, 1) == 0
            }
        }
        try #require(isBound)
        let workplace = try Self.workplace("metrics-port", port: port)
        try workplace.publish(100)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(
            worker.says("metrics and health are not served: nothing can listen on 127.0.0.1, port \(port)")
        )
        try workplace.expectOrder(of: worker)
    }
}
