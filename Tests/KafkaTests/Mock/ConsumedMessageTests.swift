import Broker
import Dispatch
import Kafka
import Log
import Settings
import TestKit
import Testing

@Suite("Messages in the library's memory", .waiting, .timeLimit(.minutes(20)))
struct ConsumedMessageTests {
    private static let headers = [
        KafkaHeader(name: bytes("request-id"), value: bytes("r")), KafkaHeader(name: bytes("none"), value: nil),
        KafkaHeader(name: bytes("empty"), value: []), KafkaHeader(name: [], value: [0, 255]),
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
        try producer.flush(timeoutMilliseconds: 20_000)
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
            let (taken, group) = (Box([KafkaRecord?](repeating: nil, count: 1_000)), DispatchGroup())
            DispatchQueue.global().async(group: group) {
                DispatchQueue.concurrentPerform(iterations: 500) { taken.set($0, first[$0].take()) }
            }
            let second = try messages(reader, 500)
            DispatchQueue.concurrentPerform(iterations: 500) { taken.set(500 + $0, second[$0].take()) }
            group.wait()
            check(taken.all.compactMap { $0 })
            #expect(taken.all.allSatisfy { $0 != nil })
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
            let header = KafkaHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: size))
            for _ in 0..<20 {
                try producer.produce(topic: MockFixture.topic, partition: 0, key: [1], value: nil, headers: [header])
            }
            try producer.flush(timeoutMilliseconds: 20_000)
            let polled = try messages(fixture.reader([0]), 20)
            for (last, next) in zip(polled, polled.dropFirst()) {
                let counted = next.headerBytes(of: last)
                #expect(counted > size && (counted < 2 * size + 100 || counted <= 65_536))
            }
            #expect(polled.allSatisfy { $0.take().headers == [header] })
        }
    }

    @Test func `huge headers end a round as huge values do`() throws {
        try withMockTopics { cluster, settings in
            let producer = try Producer(KafkaProperties(settings.properties + [("compression.codec", "gzip")]))
            let header = KafkaHeader(name: bytes("h"), value: [UInt8](repeating: 7, count: 100_000))
            for _ in 0..<50 {
                try producer.produce(
                    topic: settings.topics.requests,
                    partition: 0,
                    key: nil,
                    value: [1],
                    headers: [header]
                )
            }
            try producer.flush(timeoutMilliseconds: 20_000)
            let driver = try LogDriver(.exactlyOnce, settings)
            var (count, largest) = (0, 0)
            _ = try driver.steps(30, BatchLimits(bytes: 1_000_000)) { batch in
                count += batch.records.count
                largest = max(largest, batch.records.count)
                return count == 50
            }
            #expect(count == 50)
            #expect(largest <= 12, "a million bytes and the last record")
            try driver.log.close()
            withExtendedLifetime(cluster) {}
        }
    }

    @Test(arguments: Delivery.allCases)
    func `a round outlives its log`(delivery: Delivery) throws {
        try withMockTopics { _, settings in
            #expect(try LogDriver.publish(100, to: settings.topics.requests, settings.properties).isComplete)
            var driver: LogDriver? = try LogDriver(delivery, settings)
            driver?.uncopied = []
            _ = try driver?.steps { _ in driver?.uncopied?.count == 100 }
            let kept = driver?.uncopied ?? []
            try driver?.log.close()
            driver = nil
            let records = kept.compactMap { $0.take() }
            #expect(records.count == 100 && Set(records.map(\.value)).count == 100)
            #expect(Set(records.map(\.value)) == Set((1...100).map { bytes("value \($0)") }))
            #expect(kept.map(\.stamp) == records.map { RecordStamp($0) })
        }
    }
}

/// An array that several threads fill.
private final class Box: @unchecked Sendable {
    private let lock = DispatchQueue(label: "box")
    private var values: [KafkaRecord?]

    init(_ values: [KafkaRecord?]) { self.values = values }

    func set(_ index: Int, _ value: KafkaRecord) { lock.sync { values[index] = value } }

    var all: [KafkaRecord?] { lock.sync { values } }
}
