import Kafka
import KafkaKit
import KafkaPorts
import Pipeline
import Streams
import TestKit
import Testing

@testable import Broker

/// The newest marks of a ledger, read from its end.
@Suite(.waiting)
struct LedgerMarksTests {
    private static func mark(_ partitions: Int32?, at offset: Int64 = 1) -> (key: [UInt8], value: [UInt8]?) {
        LedgerCodec.encode(.mark(PartitionMark(appliedOffset: offset, partitions: partitions)))
    }

    /// - Parameter written: by partition, in order: a mark's number, or how many other records.
    private func newest(_ written: [Int32: [Written]], partitions: Int32 = 4) throws -> [Int32: PartitionMark] {
        var found: [Int32: PartitionMark] = [:]
        try withMock(partitions: Int(partitions)) { fixture in
            let producer = try fixture.producer()
            func write(_ record: (key: [UInt8], value: [UInt8]?), _ partition: Int32) throws {
                try producer.put(record.value, key: record.key, to: partition)
            }
            for (partition, items) in written {
                for item in items {
                    switch item {
                    case .mark(let number): try write(Self.mark(number), partition)
                    case .forgotten: try write(LedgerCodec.encode(.markForgotten), partition)
                    case .others(let count): for _ in 0..<count { try write(([5, 1], [0xA1, 0, 1]), partition) }
                    }
                }
            }
            try producer.flush(timeoutMilliseconds: .noLimit)
            let properties = KafkaProperties(fixture.properties())
            found = try LedgerMarks.newest(properties, topic: MockFixture.topic, partitions: partitions)
        }
        return found
    }

    private enum Written { case mark(Int32?), forgotten, others(Int) }

    @Test func `the newest mark of each partition counts, however far before the end it is`() throws {
        let found = try newest([
            0: [.mark(2), .mark(3)], 1: [.others(5), .mark(2), .others(700)], 2: [.mark(2), .mark(nil), .others(1)],
        ])
        #expect(found.mapValues(\.position.partitions) == [0: 3, 1: 2, 2: nil])
        #expect(found.values.otherPartitions(than: 3) == 2)
        #expect(found.values.otherPartitions(than: 2) == 3)
        let agreeing = [found[0], found[2]].compactMap(\.self)
        #expect(agreeing.otherPartitions(than: 3) == nil)
    }

    @Test func `a mark that was forgotten, and a ledger without any, name nothing`() throws {
        let found = try newest([0: [.mark(2), .forgotten], 1: [.others(300)]])
        #expect(found.isEmpty)
    }
}
