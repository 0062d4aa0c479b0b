import BrokerKit
import Kafka
import KafkaKit
import KafkaPorts
import Testing

extension RealTransactionTests {
    static let starts = [PartitionOffset(partition: 0, offset: PartitionOffset.beginning)]

    @Test(arguments: [true, false])
    func `the watermark is after an open transaction, and the position reaches it at its end`(commits: Bool) throws {
        let fixture = try TransactionFixture("watermark-\(commits)")
        let producer = try fixture.producer()
        try producer.begin()
        try producer.produce(["a", "b"], to: fixture.output)
        try producer.commit(timeoutMilliseconds: 30_000)
        try producer.begin()
        try producer.produce(["c", "d", "e"], to: fixture.output)
        try producer.flush(timeoutMilliseconds: 30_000)
        let reader = try fixture.topicReader()
        // Two records, a marker, three records of the open transaction.
        let end = try reader.highWatermark(of: 0, timeoutMilliseconds: 30_000)
        #expect(end == 6)
        #expect(try fixture.admin().watermarks(of: fixture.output, partitions: [0]).first?.watermarks.high == 6)
        // An ordinary consumer gets the end before the open transaction.
        let consumer = try Consumer(KafkaProperties(fixture.properties), topic: fixture.output)
        #expect(try consumer.watermarks(of: 0, timeoutMilliseconds: 30_000).high == 3)
        try reader.start(Self.starts)
        let before = try reader.records { reader.isDone([3]) }
        #expect(before.map(\.value) == [bytes("a"), bytes("b")])
        #expect(try reader.poll(maxRecords: 10, timeoutMilliseconds: 700) == [])
        #expect(reader.position(of: 0) == 3)
        if commits {
            try producer.commit(timeoutMilliseconds: 30_000)
        } else {
            try producer.abort(timeoutMilliseconds: 30_000)
        }
        let after = try reader.records { reader.isDone([end]) }
        #expect(after.map(\.value) == (commits ? [bytes("c"), bytes("d"), bytes("e")] : []))
    }

    @Test func `a compacted topic's tombstones are distinguished from values, and its end marker is passed`() throws {
        let fixture = try TransactionFixture("compacted", settings: [(name: "cleanup.policy", value: "compact")])
        let producer = try fixture.producer()
        try producer.begin()
        for value in ["1", "2", nil] {
            try producer.produce(topic: fixture.output, partition: 0, key: bytes("k"), value: value.map(bytes))
        }
        try producer.commit(timeoutMilliseconds: 30_000)
        let reader = try fixture.topicReader()
        let end = try reader.highWatermark(of: 0, timeoutMilliseconds: 30_000)
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
