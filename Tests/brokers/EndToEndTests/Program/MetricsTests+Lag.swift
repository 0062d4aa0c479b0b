import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import Testing

/// What a worker says of its requests topic and its brokers while something is wrong with them.
extension MetricsTests {
    private static func put(_ count: Int, on workplace: ProgramWorkplace) throws {
        try workplace.put((0..<count).map { PublishRecord(key: nil, value: Array("x\($0)".utf8), partition: 1) })
    }

    private static func has(_ port: Int, _ lines: [String]) -> Bool {
        let page = Curl.page(port, "/metrics").body
        return lines.allSatisfy { page.contains($0 + "\n") }
    }

    private static func gauges(lag: Int, unstable: Int, committed: Int) -> [String] {
        [
            #"attest_consumer_lag_records{partition="1"} \#(lag)"#,
            #"attest_partition_unstable_records{partition="1"} \#(unstable)"#,
            #"attest_partition_committed_offset{partition="1"} \#(committed)"#,
        ]
    }

    @Test func `an open transaction on the requests is lag, alert and log line; a marker at the end is none`() throws {
        let port = try Int(BrokerPorts.freePort())
        let workplace = try Self.workplace("metrics-unstable", port: port)
        let topic = workplace.requests
        let worker = try workplace.start("run", "--instance", "one")
        try Self.put(3, on: workplace)
        #expect(Deadline.wait(60) { Self.has(port, Self.gauges(lag: 0, unstable: 0, committed: 3)) }, "\(worker.error)")
        let open = try TransactionClient(workplace.properties, transactionalID: "metrics-unstable-other")
        try open.initTransactions(limit: 30_000)
        try open.begin()
        try open.producer.produce(topic: topic, partition: 1, key: nil, value: Array("y".utf8))
        try open.flush(timeoutMilliseconds: 30_000)
        try Self.put(200, on: workplace)
        #expect(Deadline.wait(30) { Self.has(port, Self.gauges(lag: 201, unstable: 201, committed: 3)) })
        #expect(worker.says("partition.unstable: partition 1 stands still: for 1", seconds: 40), "\(worker.error)")
        #expect(worker.error.contains("last stable offset 3, records waiting: 201"))
        #expect(Curl.page(port, "/status").body.contains(#""lag":201,"unstable":201"#))
        try open.commit(limit: 30_000)
        // The marker is the last offset of all, which no consumer sees.
        #expect(
            Deadline.wait(60) { Self.has(port, Self.gauges(lag: 0, unstable: 0, committed: 204)) },
            "\(worker.error)"
        )
        #expect(worker.says("partition.stable: partition 1 goes on"), "\(worker.error)")
        // A restart finds the marker behind the committed offset.
        worker.expectEnd()
        let next = try workplace.start("run", "--instance", "one")
        #expect(Deadline.wait(60) { Self.has(port, Self.gauges(lag: 0, unstable: 0, committed: 204)) }, "\(next.error)")
        next.expectEnd()
    }

    @Test func `an outage is logged in our own words, stays the last fault, and leaves no error for the stop`() throws {
        let port = try Int(BrokerPorts.freePort())
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let workplace = try Self.workplace("metrics-outage", port: port)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(Deadline.wait(60) { Curl.page(port, "/readyz").status == 200 }, "\(worker.error)")
        let first = Curl.page(port, "/status").body
        // A leader that is not known yet may be the last fault of a start on new topics.
        #expect(
            first.contains(#""group":"metrics-outage""#) && !first.contains("no broker is connected"),
            "\(first)\n\(worker.error)"
        )
        try cluster.kill()
        #expect(worker.says("broker.lost: no broker is connected (", seconds: 60), "\(worker.error)")
        #expect(Deadline.wait(30) { Curl.page(port, "/readyz").body.contains("no broker is connected") })
        #expect(Curl.page(port, "/status").body.contains(#","message":"no broker is connected ("#))
        try cluster.start()
        #expect(worker.says("broker.back: broker 1 (", seconds: 60), "\(worker.error)")
        #expect(Deadline.wait(60) { Curl.page(port, "/readyz").status == 200 }, "\(worker.error)")
        #expect(Curl.page(port, "/status").body.contains(#""lastFault":{"at":""#))
        worker.expectEnd()
        #expect(worker.errors("broker.back: ") == 1, "\(worker.error)")
        let errors = worker.error.split(separator: "\n").filter { $0.contains(" error ") }
        #expect(errors.count == 1 && errors[0].contains(" broker.lost: "), "\(worker.error)")
    }
}
