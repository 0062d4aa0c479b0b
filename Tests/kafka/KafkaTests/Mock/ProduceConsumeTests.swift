import Kafka
import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing

@Suite(.waiting)
struct ProduceConsumeTests {
    struct Shape: Sendable {
        var key: [UInt8]?
        var value: [UInt8]?
        var headers: [RecordHeader] = []
    }

    static let shapes = [
        Shape(key: bytes("k"), value: bytes("v")), Shape(key: nil, value: bytes("v")),
        Shape(key: bytes("k"), value: nil),
        Shape(key: nil, value: nil), Shape(key: [], value: []), Shape(key: [], value: nil), Shape(key: nil, value: []),
        Shape(key: [0, 255, 0], value: [UInt8](repeating: 0, count: 70_000)),
        Shape(key: bytes("k"), value: bytes("v"), headers: [RecordHeader(name: bytes("h"), value: nil)]),
        Shape(key: bytes("k"), value: bytes("v"), headers: [RecordHeader(name: bytes("h"), value: [])]),
        Shape(key: bytes("k"), value: bytes("v"), headers: [RecordHeader(name: [], value: [])]),
        Shape(key: bytes("k"), value: nil, headers: [RecordHeader(name: [0xff, 0xfe], value: [0, 1, 0])]),
        Shape(
            key: bytes("k"),
            value: bytes("v"),
            headers: (0..<200).map { RecordHeader(name: bytes("same"), value: bytes("\($0)")) }
        ),
    ]

    @Test func `every shape of record is read back as written`() throws {
        try withMock(partitions: 1) { fixture in
            let producer = try fixture.producer()
            for shape in Self.shapes {
                try producer.put(shape.value, key: shape.key, headers: shape.headers)
            }
            try producer.flush(timeoutMilliseconds: .noLimit)
            #expect(producer.summary.acknowledged == Self.shapes.count && producer.summary.failed == 0)
            let records = try fixture.reader([0]).records(Self.shapes.count)
            for (index, (record, shape)) in zip(records, Self.shapes).enumerated() {
                #expect(record.key == shape.key, "shape \(index)")
                #expect(record.value == shape.value, "shape \(index)")
                #expect(record.headers == shape.headers, "shape \(index)")
                #expect(record.hasReadableHeaders)
                #expect(record.offset == Int64(index))
                #expect(!record.hasLogAppendTime && record.timestamp > 0)
            }
            #expect(records.count == Self.shapes.count)
            // A reader without a group gives the same.
            let reader = try fixture.topicReader()
            try reader.start([PartitionOffset(partition: 0, offset: PartitionOffset.beginning)])
            var read: [TopicRecord] = []
            _ = try eventually {
                read += try reader.records(most: 9, waiting: 100)
                return read.count
            } until: {
                $0 == Self.shapes.count
            }
            #expect(read.map(\.key) == Self.shapes.map(\.key) && read.map(\.value) == Self.shapes.map(\.value))
            #expect(read.compactMap(\.headers) == Self.shapes.map(\.headers))
        }
    }

    static let nowhere: [(String, Int32)] = [
        (MockFixture.topic, 4), (MockFixture.topic, -1), (MockFixture.topic, .max), ("other", 0),
    ]

    @Test(arguments: nowhere)
    func `a record for a missing partition is refused at once`(topic: String, partition: Int32) throws {
        try withMock { fixture in
            let producer = try fixture.producer()
            let fault = #expect(throws: KafkaFault.self) {
                try producer.produce(
                    topic: topic,
                    partition: partition,
                    key: nil,
                    value: nil,
                    headers: [RecordHeader(name: bytes("h"), value: bytes("v"))]
                )
            }
            #expect(fault?.message.contains(topic) ?? false)
            #expect(fault?.isRetriable == false)
            #expect(producer.outstanding == 0)
        }
    }

    @Test func `the producer waits on a full queue, and drops no record`() throws {
        try withMock { fixture in
            let producer = try fixture.producer([("queue.buffering.max.messages", "10")])
            for number in 0..<500 {
                try producer.put(bytes("\(number)"))
            }
            try producer.flush(timeoutMilliseconds: .noLimit)
            #expect(producer.summary.acknowledged == 500 && producer.summary.failed == 0)
            let values = try fixture.reader([0]).records(500).map { $0.value ?? [] }
            #expect(values == (0..<500).map { bytes("\($0)") })
        }
    }

    @Test func `a failed delivery is reported at the flush, once`() throws {
        try withMock { fixture in
            let producer = try fixture.producer([("message.timeout.ms", "600"), ("linger.ms", "0")])
            #expect(try producer.partitionCount(of: MockFixture.topic) == 4)
            try fixture.cluster.setBroker(1, isUp: false)
            try producer.put(bytes("lost"), to: 2)
            let fault = #expect(throws: KafkaFault.self) { try producer.flush(timeoutMilliseconds: .noLimit) }
            #expect(fault?.message.contains("\(MockFixture.topic), partition 2") ?? false)
            #expect(fault?.requiresAbort == true)
            #expect(producer.summary.acknowledged == 0 && producer.summary.failed == 1)
            try fixture.cluster.setBroker(1, isUp: true)
            try producer.flush(timeoutMilliseconds: .noLimit)
        }
    }

    @Test func `a flush that times out reports how many records are outstanding`() throws {
        try withMock { fixture in
            let producer = try fixture.producer()
            #expect(try producer.partitionCount(of: MockFixture.topic) == 4)
            try fixture.cluster.setBroker(1, isUp: false)
            try producer.put(nil)
            let fault = #expect(throws: KafkaFault.self) { try producer.flush(timeoutMilliseconds: 200) }
            #expect(fault?.isTimeout == true && fault?.requiresAbort == true && fault?.isFatal == false)
            #expect(producer.outstanding == 1)
            try fixture.cluster.setBroker(1, isUp: true)
            try producer.flush(timeoutMilliseconds: .noLimit)
            #expect(producer.summary.acknowledged == 1 && producer.summary.failed == 0)
        }
    }
}
