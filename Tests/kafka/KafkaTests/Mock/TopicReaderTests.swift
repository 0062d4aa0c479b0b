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

    @Test func `records in one piece of memory are the same, also of more than the queue holds`() throws {
        try withMock { fixture in
            try fixture.fill(perPartition: 10_000, partitions: 2)
            let reader = try fixture.topicReader()
            try reader.start(starts(0..<2))
            var next: [Int32: Int] = [:]
            var watch = StandstillWatch<[Int32: Int]>()
            while next != [0: 10_000, 1: 10_000], !watch.isStill(next) {
                let read = try reader.poll(most: 3_000, waiting: 100)
                #expect(read.records.count <= 3_000 && read.offsets.count == read.records.count)
                for (record, offset) in zip(read.records.records, read.offsets) {
                    let number = next[record.partition, default: 0]
                    next[record.partition] = number + 1
                    #expect(offset == Int64(number))
                    #expect(record.key == bytes("\(record.partition)"))
                    #expect(record.value == bytes("\(number)"))
                }
            }
            #expect(next == [0: 10_000, 1: 10_000])
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

    @Test func `reading starts at the requested offset, and returns at most the requested number of records`() throws {
        try withMock(partitions: 2) { fixture in
            try fixture.fill(perPartition: 100, partitions: 2)
            let reader = try fixture.topicReader()
            try reader.start([PartitionOffset(partition: 1, offset: 90)])
            #expect(reader.position(of: 1) == 90)
            #expect(reader.position(of: 0) == nil)
            var records: [TopicRecord] = []
            while records.count < 10 {
                let some = try reader.records(most: 3, waiting: 1_000)
                #expect(some.count <= 3)
                records += some
                #expect(reader.position(of: 1) == 90 + Int64(records.count))
            }
            #expect(records.map(\.offset) == Array(90..<100))
            #expect(try reader.watermarks(of: 1, timeoutMilliseconds: .noLimit) == Watermarks(low: 0, high: 100))
        }
    }

    @Test func `a missing partition has no end`() throws {
        try withMock(partitions: 1) { fixture in
            let reader = try fixture.topicReader()
            #expect(try reader.watermarks(of: 0, timeoutMilliseconds: .noLimit).high == 0)
            #expect(throws: KafkaFault.self) { try reader.watermarks(of: 9, timeoutMilliseconds: 2_000) }
        }
    }
}
