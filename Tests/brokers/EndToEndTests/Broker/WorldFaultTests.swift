import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Streams
import Testing

/// Faults from outside the worker: each ends in recovery or in one clear line, and no request is lost.
@Suite(
    .brokerTests,
    .cluster(),
    .serialized
)
struct WorldFaultTests {
    @Test func `a topic that takes less than an output is named, and the worker waits until it takes it`() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let workplace = try ProgramWorkplace("oversize", topics: .workplace) { options in
            options.topics["results"] = [("max.message.bytes", "5000")]
            // The broker refuses whole batches: small ones, so that the large record is alone in its own.
            options.kafka = [("batch.size", "2000")]
            // Each halving of a transaction costs two refused ones.
            options.members = #""batch": {"records": 30},"#
        }
        try workplace.publish(60)
        // Copied to every output.
        let trace = RecordHeader(name: Array("tracestate".utf8), value: [UInt8](repeating: 0x61, count: 6_000))
        let producer = try Producer(workplace.properties)
        try producer.produce(
            topic: workplace.requests,
            partition: 1,
            key: nil,
            value: Array(#"{"path": "v1/projects/1/apps/a:noSuchMethod", "body": {}}"#.utf8),
            headers: [RecordHeader("request-id", "oversize"), trace]
        )
        try producer.flush(timeoutMilliseconds: 30_000)
        try workplace.publish(60, seed: 2)
        let worker = try workplace.start("run", "--instance", "one")
        let topic = workplace.topic("results")
        #expect(worker.says("topic \(topic) refuses what belongs to the request at partition 1", seconds: 90))
        #expect(worker.isRunning, "\(worker.error)")
        try cluster.tool(
            "kafka.admin.ConfigCommand",
            [
                "--bootstrap-server", cluster.bootstrapServers, "--alter", "--entity-type", "topics", "--entity-name",
                topic,
            ]
                + ["--add-config", "max.message.bytes=1048588"]
        )
        #expect(try workplace.drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        let findings = try workplace.reckon()
        #expect(findings[.lost] == 0 && findings[.doubled] == 0 && findings[.outOfOrder] == 0)
        #expect(findings[.verdictDiffers] == 0, "no dead letter: \(findings.lines.joined(separator: "\n"))")
    }

    /// Several times: a lane at work during the exit must not find its libraries unloaded.
    @Test func `an outage of the only broker is a line at its begin and one at its end, and costs nothing`() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let port = try BrokerPorts.freePort()
        let workplace = try ProgramWorkplace("outage", topics: .workplace) {
            $0.members = #""log": {"format": "json"}, "metrics": {"port": \#(port)},"#
        }
        try workplace.publish(500)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.hasOutcomes(500, of: [worker]), "\(worker.error)")
        try cluster.kill(1)
        #expect(worker.says(#""event":"broker.lost""#, seconds: 60), "\(worker.error)")
        try cluster.start(1)
        #expect(worker.says(#""event":"broker.back""#, seconds: 60), "\(worker.error)")
        try workplace.publish(500, seed: 2)
        try workplace.expectOrder(of: worker)
        let lines = try worker.error.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
        for line in lines {
            #expect(["time", "level", "event", "message"].allSatisfy { line[$0] is String }, "\(line)")
            #expect(line["instance"] as? String == "one")
        }
        let events = lines.compactMap { $0["event"] as? String }
        #expect(events.count { $0 == "broker.lost" } == 1 && events.count { $0 == "broker.back" } == 1, "\(events)")
        #expect(events.last == "stopped")
    }
}
