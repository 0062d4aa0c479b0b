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
}
