import Dispatch
import Kafka
import KafkaKit
import Streams
import TestKit
import Testing
import Threads

@Suite("Messages in the library's memory", .waiting)
struct ConsumedMessageTests {
    private static let headers = [
        RecordHeader(name: bytes("request-id"), value: bytes("r")), RecordHeader(name: bytes("none"), value: nil),
        RecordHeader(name: bytes("empty"), value: []), RecordHeader(name: [], value: [0, 255]),
    ]

    private func fill(_ fixture: MockFixture, _ count: Int, _ more: [(String, String)] = []) throws {
        let producer = try fixture.producer(more)
        for number in 0..<count {
            try producer.produce(
                topic: MockFixture.topic,
                partition: 0,
                key: number % 3 == 0 ? nil : bytes("key \(number)"),
                value: number % 5 == 0 ? nil : bytes("value \(number)"),
                headers: number % 2 == 0 ? Self.headers : []
            )
        }
        try producer.flush(timeoutMilliseconds: .noLimit)
    }

    private func messages(_ consumer: Consumer, _ count: Int) throws -> [ConsumedMessage] {
        var messages: [ConsumedMessage] = []
        _ = try consumer.poll { event in
            if case .message(let message) = event { messages.append(message) }
            return messages.count == count
        }
        try #require(messages.count == count)
        return messages
    }

    private func check(_ records: [KafkaRecord]) {
        for (number, record) in records.enumerated() {
            #expect(record.offset == Int64(number) && record.partition == 0 && record.headersReadable)
            #expect(record.key == (number % 3 == 0 ? nil : bytes("key \(number)")))
            #expect(record.value == (number % 5 == 0 ? nil : bytes("value \(number)")))
            #expect(record.headers == (number % 2 == 0 ? Self.headers : []))
        }
    }

    @Test func `they are taken on any thread, while others are polled`() throws {
        try withMock(partitions: 1) { fixture in
            try fill(fixture, 1_000)
            let reader = try fixture.reader([0])
            let first = try messages(reader, 500)
            let (taken, group) = (Locked<[KafkaRecord]>([]), DispatchGroup())
            DispatchQueue.global().async(group: group) {
                DispatchQueue.concurrentPerform(iterations: 500) { number in
                    let record = first[number].take()
                    taken.withLock { $0.append(record) }
                }
            }
            let second = try messages(reader, 500)
            DispatchQueue.concurrentPerform(iterations: 500) { number in
                let record = second[number].take()
                taken.withLock { $0.append(record) }
            }
            group.wait()
            let all = taken.withLock { $0 }.sorted { $0.offset < $1.offset }
            check(all)
            #expect(all.count == 1_000)
        }
    }

    @Test func `what is known of them before they are taken is true`() throws {
        try withMock(partitions: 1) { fixture in
            try fill(fixture, 100)
            for message in try messages(fixture.reader([0]), 100) {
                let (place, time, bytes) = ((message.partition, message.offset), message.timestamp, message.byteCount)
                let record = message.take()
                #expect(place == (record.partition, record.offset) && time == record.timestamp && time > 0)
                #expect(message.timestampType == record.timestampType)
                #expect(bytes == (record.key?.count ?? 0) + (record.value?.count ?? 0))
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
            check(kept[..<100].map { $0.take() })
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
            while try reader.poll(timeoutMilliseconds: 100) != nil {}
            #expect(block == nil)
        }
    }

    /// The sizes of headers between which it changes how they are measured, in batches of one record and of many.
    @Test(arguments: [10, 2_000, 100_000], ["1", "10000"])
    func `bytes of headers are counted before they are decoded`(size: Int, batch: String) throws {
        try withMock(partitions: 1) { fixture in
            let producer = try fixture.producer([("batch.num.messages", batch), ("compression.codec", "gzip")])
            let header = RecordHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: size))
            for _ in 0..<20 {
                try producer.produce(topic: MockFixture.topic, partition: 0, key: [1], value: nil, headers: [header])
            }
            try producer.flush(timeoutMilliseconds: .noLimit)
            let polled = try messages(fixture.reader([0]), 20)
            for (last, next) in zip(polled, polled.dropFirst()) {
                let counted = next.headerBytes(of: last)
                #expect(counted > size && (counted < 2 * size + 100 || counted <= 65_536))
            }
            #expect(polled.allSatisfy { $0.take().headers == [header] })
        }
    }
}
