import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import KafkaPorts
import Settings
import Streams
import Testing

@Suite(
    .brokerTests,
    .cluster(),
    .serialized
)
struct RealKafkaTests {
    /// As when a broker has just come back and does not know all of its partitions yet.
    @Test func `a client asks again for a partition that did not exist before`() throws {
        let fixture = try RealFixture("again")
        let broker = try #require(RealClusterTrait.cluster)
        let topic = fixture.names.requests
        let properties = KafkaProperties(fixture.properties)
        #expect(try Admin(properties).createTopics([NewTopic(name: topic, partitions: 1)]) == [.created])
        let ends = try PartitionEnds(properties)
        let fault = #expect(throws: KafkaFault.self) { try ends.watermarks(of: topic, 1, timeoutMilliseconds: 5_000) }
        #expect(fault?.isMissingTopic == true, "\(String(describing: fault))")
        try broker.addPartitions(2, to: [topic])
        var marks: Watermarks?
        // The broker itself may need a moment.
        for _ in 0..<20 where marks == nil { marks = try? ends.watermarks(of: topic, 1, timeoutMilliseconds: 5_000) }
        #expect(marks == Watermarks(low: 0, high: 0))
    }

    @Test func `a topic that the broker refuses is named`() throws {
        let fixture = try RealFixture("refused")
        let report = try fixture.create(partitions: 1, replication: 3)
        #expect(!report.allMatch)
        #expect(report.lines.isEmpty)
        #expect(report.complaints.count == 6 && report.complaints.allSatisfy { $0.contains("refused.") })
    }

    @Test func `a record without a key is the record's fault on a compacted topic`() throws {
        let fixture = try RealFixture("no-key")
        _ = try fixture.create()
        let ledger = try #require(fixture.names.outputs[.ledger])
        let client = try TransactionClient(KafkaProperties(fixture.properties), transactionalID: "no-key")
        try client.initTransactions(limit: 30_000)
        try client.begin()
        try client.producer.produce(topic: ledger, partition: 0, key: nil, value: [1])
        let fault = #expect(throws: KafkaFault.self) { try client.flush(timeoutMilliseconds: 30_000) }
        #expect(fault?.isRecordFault == true, "\(fault as Any)")
        try client.abort(limit: 30_000)
    }

    @Test func `the time by which a quota holds back answers is counted, by the broker's name`() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let fixture = try RealFixture("quota")
        _ = try fixture.create()
        try cluster.configure("clients", "quota", "--add-config", "producer_byte_rate=20000")
        let producer = try Producer(KafkaProperties(fixture.properties + [("client.id", "quota")]))
        let value = [UInt8](repeating: 7, count: 1_000)
        // A client may be ahead by eleven seconds' bytes.
        for number in 0..<400 {
            try producer.produce(topic: fixture.names.requests, partition: 0, key: nil, value: value)
            if number % 100 == 99 { try producer.flush(timeoutMilliseconds: 120_000) }
        }
        let throttled = ClientThrottles.milliseconds[cluster.bootstrapServers] ?? 0
        #expect(throttled > 1_000, "\(ClientThrottles.milliseconds)")
    }

    @Test func `offsets can be set for a group without members, and for no other group`() throws {
        let fixture = try RealFixture("set-offsets")
        _ = try fixture.create()
        let (admin, topic) = (try Admin(KafkaProperties(fixture.properties)), fixture.names.requests)
        func set(_ offset: Int64, of partition: Int32) throws {
            let offsets = [PartitionOffset(partition: partition, offset: offset)]
            // A broker that has just started may still load the group, as for the commands.
            try BrokerRetry.ask { () throws(KafkaFault) in
                try admin.setOffsets(ofGroup: "set-offsets", topic: topic, offsets)
            }
        }
        try set(11, of: 0)
        try set(22, of: 1)
        #expect(try fixture.committed() == [11, 22, nil])
        let member = try Consumer(KafkaProperties(fixture.properties), topic: topic)
        try member.subscribe()
        _ = try member.metadataOnceAssigned()
        let fault = #expect(throws: KafkaFault.self) { try set(0, of: 1) }
        #expect(fault?.name == "UNKNOWN_MEMBER_ID", "\(fault as Any)")
        #expect(try fixture.committed() == [11, 22, nil])
        try member.close()
        try set(0, of: 1)
        #expect(try fixture.committed() == [11, 0, nil])
    }
}
