import BrokerKit
import Kafka
import KafkaKit
import KafkaPorts
import Testing

extension RealTransactionTests {
    static let starts = [PartitionOffset(partition: 0, offset: PartitionOffset.beginning)]

    @Test func `a compacted topic's tombstones are distinguished from values, and its end marker is passed`() throws {
        let fixture = try TransactionFixture("compacted", settings: [(name: "cleanup.policy", value: "compact")])
        let producer = try fixture.producer()
        try producer.begin()
        for value in ["1", "2", nil] {
            try producer.produce(topic: fixture.output, partition: 0, key: bytes("k"), value: value.map(bytes))
        }
        try producer.commit(timeoutMilliseconds: 30_000)
        let reader = try fixture.topicReader()
        let end = try reader.watermarks(of: 0, timeoutMilliseconds: 30_000).high
        #expect(end == 4)
        try reader.start(Self.starts)
        #expect(try reader.records { reader.isDone([end]) }.map(\.value) == [bytes("1"), bytes("2"), nil])
    }

    @Test func `a reader leaves no trace in any group`() throws {
        let fixture = try TransactionFixture("traceless")
        let producer = try fixture.producer()
        try producer.begin()
        try producer.produce(["a"], to: fixture.output)
        try producer.commit(timeoutMilliseconds: 30_000)
        let reader = try fixture.topicReader()
        try reader.start(Self.starts)
        #expect(try reader.records { reader.isDone([2]) }.count == 1)
        // Waits for the group's coordinator.
        #expect(try fixture.committed() == nil)
        let group = try fixture.admin().group("traceless")
        #expect(group.isEmpty && group.state == "Dead")
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
