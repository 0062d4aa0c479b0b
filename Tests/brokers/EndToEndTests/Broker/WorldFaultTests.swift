import Broker
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
        let value = Array(#"{"path": "v1/projects/1/apps/a:noSuchMethod", "body": {}}"#.utf8)
        let headers = [RecordHeader("request-id", "oversize"), trace]
        try workplace.put([PublishRecord(key: nil, value: value, headers: headers, partition: 1)])
        try workplace.publish(60, seed: 2)
        let worker = try workplace.start("run", "--instance", "one")
        let topic = workplace.topic("results")
        #expect(worker.says("topic \(topic) refuses what belongs to the request at partition 1", seconds: 90))
        #expect(worker.isRunning, "\(worker.error)")
        try cluster.configure("topics", topic, "--add-config", "max.message.bytes=1048588")
        #expect(try workplace.drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        worker.expectEnd()
        let findings = try workplace.reckon()
        #expect(findings[.lost] == 0 && findings[.doubled] == 0 && findings[.outOfOrder] == 0)
        #expect(findings[.verdictDiffers] == 0, "no dead letter: \(findings.lines.joined(separator: "\n"))")
    }
}
