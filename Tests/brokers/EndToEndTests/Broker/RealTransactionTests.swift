import BrokerKit
import Foundation
import Kafka
import KafkaKit
import KafkaPorts
import Testing

@Suite(
    .brokerTests,
    .cluster(),
    .serialized
)
struct RealTransactionTests {
    @Test func `an abort leaves nothing visible and moves no offset`() throws {
        let fixture = try TransactionFixture("abort")
        let producer = try fixture.producer()
        let (consumer, metadata) = try fixture.member()
        try producer.begin()
        try producer.produce(["a"], to: fixture.output)
        try producer.flush(timeoutMilliseconds: 30_000)
        try producer.send(3, fixture, metadata)
        try producer.abort(limit: 30_000)
        #expect(try fixture.outputs() == [])
        #expect(try fixture.outputs("read_uncommitted") == ["a"])
        #expect(try fixture.committed() == nil)
        try producer.begin()
        try producer.produce(["b"], to: fixture.output)
        try producer.send(4, fixture, metadata)
        try producer.commit(limit: 30_000)
        #expect(try fixture.outputs() == ["b"])
        #expect(try fixture.committed() == 4)
        try consumer.close()
    }

    @Test func `a record without a key is the record's fault on a compacted topic`() throws {
        let fixture = try TransactionFixture("no-key", settings: [(name: "cleanup.policy", value: "compact")])
        let producer = try fixture.producer()
        try producer.begin()
        try producer.produce(topic: fixture.output, partition: 0, key: nil, value: [1])
        let fault = #expect(throws: KafkaFault.self) { try producer.flush(timeoutMilliseconds: 30_000) }
        #expect(fault?.isRecordFault == true, "\(fault as Any)")
        try producer.abort(limit: 30_000)
    }

    @Test(arguments: ["offsets", "commit", "abort", "flush", "initialise"])
    func `no call exceeds its timeout by much when a broker stops answering, and no effect follows`(
        call: String
    ) throws {
        let fixture = try TransactionFixture("stopped-\(call)")
        let broker = try #require(RealClusterTrait.cluster)
        let producer = try fixture.producer()
        let (consumer, metadata) = try fixture.member()
        try producer.begin()
        try producer.produce(["a"], to: fixture.output)
        try producer.flush(timeoutMilliseconds: 30_000)
        if call == "flush" { try producer.produce(["b"], to: fixture.output) }
        if call != "offsets" { try producer.send(1, fixture, metadata) }
        try broker.pause()
        defer { try? broker.resume() }
        let fault = #expect(throws: KafkaFault.self) {
            switch call {
            case "offsets":
                try producer.sendOffsets(
                    [PartitionOffset(partition: 0, offset: 1)],
                    topic: fixture.input,
                    metadata,
                    timeoutMilliseconds: 200
                )
            case "commit": try producer.commit(limit: 200)
            case "abort": try producer.abort(limit: 200)
            case "flush":
                try producer.produce(["c"], to: fixture.output)
                try producer.flush(timeoutMilliseconds: 200)
            default:
                let next = try TransactionClient(KafkaProperties(fixture.properties), transactionalID: "next")
                try next.initTransactions(limit: 200)
            }
        }
        try broker.resume()
        #expect(fault.map { $0.isFatal || $0.isRetriable || $0.requiresAbort } == true)
        // The outcome is open in the library's view; a successor settles it.
        let next = try fixture.producer()
        try next.begin()
        try next.produce(["again"], to: fixture.output)
        try next.send(2, fixture, metadata)
        try next.commit(limit: 30_000)
        let outputs = try fixture.outputs()
        // The broker may have read the commit before it was paused, and then performs it.
        #expect(outputs == ["again"] || (call == "commit" && outputs == ["a", "again"]))
        #expect(try fixture.committed() == 2)
        try consumer.close()
    }

    @Test func `offsets can be set for a group without members, and for no other group`() throws {
        let fixture = try TransactionFixture("set-offsets", partitions: 2)
        let admin = try fixture.admin()
        let offsets = [PartitionOffset(partition: 0, offset: 11), PartitionOffset(partition: 1, offset: 22)]
        try admin.setOffsets(ofGroup: "set-offsets", topic: fixture.input, offsets)
        func committed() throws -> [Int64?] {
            try admin.committedOffsets(ofGroup: "set-offsets", topic: fixture.input, partitions: [0, 1]).map(\.offset)
        }
        #expect(try committed() == [11, 22])
        try admin.setOffsets(ofGroup: "set-offsets", topic: fixture.input, [PartitionOffset(partition: 1, offset: 0)])
        #expect(try committed() == [11, 0])
        let (consumer, _) = try fixture.member()
        let fault = #expect(throws: KafkaFault.self) {
            try admin.setOffsets(ofGroup: "set-offsets", topic: fixture.input, offsets)
        }
        #expect(fault?.name == "UNKNOWN_MEMBER_ID", "\(fault as Any)")
        #expect(try committed() == [11, 0])
        try consumer.close()
        try admin.setOffsets(ofGroup: "set-offsets", topic: fixture.input, offsets)
        #expect(try committed() == [11, 22])
    }
}
