import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing

@testable import Kafka

@Suite("Messages in the library's memory", .waiting)
struct ConsumedMessageTests {
    private static let headers = [
        RecordHeader(name: bytes("request-id"), value: bytes("r")), RecordHeader(name: bytes("none"), value: nil),
        RecordHeader(name: bytes("empty"), value: []), RecordHeader(name: [], value: [0, 255]),
    ]

    private static func key(_ number: Int) -> [UInt8]? { number % 3 == 0 ? nil : bytes("key \(number)") }

    private static func value(_ number: Int) -> [UInt8]? { number % 5 == 0 ? nil : bytes("value \(number)") }

    private func fill(_ fixture: MockFixture, _ count: Int, _ more: [(String, String)] = []) throws {
        let producer = try fixture.producer(more)
        for number in 0..<count {
            let (key, value) = (Self.key(number), Self.value(number))
            try producer.put(value, key: key, headers: number % 2 == 0 ? Self.headers : [])
        }
        try producer.flush(timeoutMilliseconds: .noLimit)
    }

    private func messages(_ consumer: Consumer, _ count: Int) throws -> [ConsumedMessage] {
        var messages: [ConsumedMessage] = []
        _ = try consumer.poll { event in
            if case .record = event, let message = consumer.last { messages.append(message) }
            return messages.count == count
        }
        try #require(messages.count == count)
        return messages
    }

    private func check(_ records: [InboundRecord]) {
        for (number, record) in records.enumerated() {
            #expect(record.offset == Int64(number) && record.partition == 0 && record.hasReadableHeaders)
            #expect(record.key == Self.key(number) && record.value == Self.value(number))
            #expect(record.headers == (number % 2 == 0 ? Self.headers : []))
        }
    }

    @Test func `what is known of them before they are taken is true`() throws {
        try withMock(partitions: 1) { fixture in
            try fill(fixture, 100)
            for message in try messages(fixture.reader([0]), 100) {
                let record = message.record.take()
                #expect(message.record.stamp == RecordStamp(record) && record.timestamp > 0)
                #expect(message.byteCount == (record.key?.count ?? 0) + (record.value?.count ?? 0))
            }
        }
    }

    @Test func `they outlive their consumer, taken or not`() throws {
        try withMock(partitions: 1) { fixture in
            try fill(fixture, 300)
            var reader: Consumer? = try fixture.reader([0])
            var kept = try messages(try #require(reader), 200)
            try reader?.close()
            reader = nil
            check(kept[..<100].map { $0.record.take() })
            // Each holds its block, and the last block the client.
            weak let block = kept.last?.block
            #expect(block != nil)
            kept = []
            #expect(block == nil)
        }
    }

    @Test func `dropped ones are freed once nothing more comes`() throws {
        try withMock(partitions: 1) { fixture in
            try fill(fixture, 10)
            let reader = try fixture.reader([0])
            var kept = try messages(reader, 10)
            weak let block = kept.last?.block
            kept = []
            #expect(block != nil, "it takes the next messages")
            while reader.poll(waiting: 100) != nil {}
            #expect(block == nil)
        }
    }

    /// The sizes of headers between which it changes how they are measured, in batches of one record and of many.
    @Test(arguments: [10, 2_000, 100_000], ["1", "10000"])
    func `bytes of headers are counted before they are decoded`(size: Int, batch: String) throws {
        try withMock(partitions: 1) { fixture in
            let producer = try fixture.producer([("batch.num.messages", batch), ("compression.codec", "gzip")])
            let header = RecordHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: size))
            for _ in 0..<20 { try producer.put(nil, key: [1], headers: [header]) }
            try producer.flush(timeoutMilliseconds: .noLimit)
            let polled = try messages(fixture.reader([0]), 20)
            for (last, next) in zip(polled, polled.dropFirst()) {
                let counted = next.headerBytes(of: last)
                #expect(counted > size && (counted < 2 * size + 100 || counted <= 65_536))
            }
            #expect(polled.allSatisfy { $0.record.take().headers == [header] })
        }
    }
}
