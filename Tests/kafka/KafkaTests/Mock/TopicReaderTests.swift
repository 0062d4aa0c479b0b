import Kafka
import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing

@Suite(.waiting)
struct TopicReaderTests {
    private func starts(_ partitions: Range<Int32>) -> [PartitionOffset] {
        partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) }
    }

    @Test func `a reader has heard of all partitions once each has sent a record, or word of its end`() throws {
        try withMock { fixture in
            try fixture.fill(perPartition: 1, partitions: 2)
            let reader = try fixture.topicReader()
            #expect(reader.hasHeardAll, "of none")
            try reader.start(starts(0..<2) + [PartitionOffset(partition: 2, offset: 0)])
            #expect(!reader.hasHeardAll)
            var polls = 0
            let hasHeard = try eventually {
                polls += 1
                return try reader.records(most: 1, waiting: 100).count
            } until: { _ in
                reader.hasHeardAll
            }
            #expect(hasHeard)
            #expect(polls > 1, "one record a poll")
            try reader.start([PartitionOffset(partition: 3, offset: 0)])
            #expect(!reader.hasHeardAll)
            try reader.stop([3])
            #expect(reader.hasHeardAll, "what is not read is not waited for")
        }
    }

    @Test func `each partition is read from its start on, in parts, also more than the queue holds`() throws {
        try withMock { fixture in
            try fixture.fill(perPartition: 10_000, partitions: 2)
            let reader = try fixture.topicReader()
            try reader.start(starts(0..<1) + [PartitionOffset(partition: 1, offset: 9_000)])
            #expect(reader.position(of: 1) == 9_000 && reader.position(of: 2) == nil)
            var next: [Int32: Int] = [1: 9_000]
            var watch = StandstillWatch<[Int32: Int]>()
            while next != [0: 10_000, 1: 10_000], !watch.isStill(next) {
                let read = try reader.poll(most: 3_000, waiting: 100)
                #expect(read.records.count <= 3_000 && read.offsets.count == read.records.count)
                for (record, offset) in zip(read.records.records, read.offsets) {
                    let number = next[record.partition, default: 0]
                    next[record.partition] = number + 1
                    #expect(offset == Int64(number))
                    #expect(record.key == bytes("\(record.partition)") && record.value == bytes("\(number)"))
                }
                #expect(reader.position(of: 1) == Int64(next[1] ?? 0))
            }
            #expect(next == [0: 10_000, 1: 10_000])
            #expect(try reader.watermarks(of: 1, timeoutMilliseconds: .noLimit) == Watermarks(low: 0, high: 10_000))
        }
    }

    @Test(
        arguments: [
            [("message.max.bytes", "20000000")],
            [("receive.message.max.bytes", "3000000"), ("fetch.max.bytes", "2000000")],
            [("fetch.max.bytes", "60000000")], [("queued.min.messages", "5"), ("queued.max.messages.kbytes", "7")],
        ]
    )
    func `an operator's limits do not keep a reader from starting`(properties: [(String, String)]) throws {
        _ = try TopicReader(KafkaProperties([("bootstrap.servers", "127.0.0.1:1")] + properties), topic: "t")
    }

    @Test func `a missing partition has no end`() throws {
        try withMock(partitions: 1) { fixture in
            let reader = try fixture.topicReader()
            #expect(try reader.watermarks(of: 0, timeoutMilliseconds: .noLimit).high == 0)
            #expect(throws: KafkaFault.self) { try reader.watermarks(of: 9, timeoutMilliseconds: 2_000) }
        }
    }
}
