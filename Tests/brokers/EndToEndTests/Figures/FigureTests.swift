import Broker
import BrokerKit
import ChaosKit
import HTTP
import HTTPClient
import Kafka
import KafkaKit
import KafkaPorts
import Member
import Pipeline
import Settings
import Streams
import TestKit
import Testing

/// How long something takes at most. The landing's tests show that it ends, these that it ends in time.
@Suite("Figures of an idle machine", .serialized)
struct FigureTests {
    /// Kafka's protocol number, and an error after which the library asks again in half a second.
    private static let (endTransaction, coordinatorLoading): (Int16, Int32) = (26, 14)

    private static func expect(within limit: Duration, _ work: () throws -> Void) rethrows {
        let stopwatch = Stopwatch()
        try work()
        let elapsed = stopwatch.elapsed
        #expect(Deadline.isWithin(limit, elapsed), "\(elapsed)")
    }

    @Test func `a member whose commit stays unanswered is closed within 20 s`() throws {
        try withMockTopics { cluster, settings in
            #expect(try MemberDriver.publish(5, to: "requests", settings.properties).isComplete)
            let driver = try MemberDriver(.exactlyOnce, settings)
            let batch = try driver.records(5)
            let answers = Array(repeating: Self.coordinatorLoading, count: 100_000)
            cluster.failRequests(Self.endTransaction, with: answers)
            let outputs = [batch.outputs(.results), batch.outputs(.ledger)]
            try driver.member.streams.write(outputs, batch.positions, of: batch.generation)
            try Self.expect(within: .seconds(20)) { try driver.member.close() }
        }
    }

    @Test func `a producer's first record is acknowledged within 0.5 s`() throws {
        try withMock { fixture in
            for _ in 0..<5 {
                let producer = try fixture.producer()
                try Self.expect(within: .milliseconds(500)) {
                    try producer.produce(topic: MockFixture.topic, partition: 0, key: nil, value: [1])
                    try producer.flush(timeoutMilliseconds: .noLimit)
                }
            }
        }
    }

    /// The thread of a partition's leader sleeps for a second where nothing wakes it, which a seek does not in each version.
    @Test func `partitions are read within 0.5 s after their start, and after a seek`() throws {
        try withMock { fixture in
            let producer = try fixture.producer()
            let partitions = 0..<4 as Range<Int32>
            for partition in partitions {
                for _ in 0..<10 {
                    try producer.produce(topic: MockFixture.topic, partition: partition, key: nil, value: [1])
                }
            }
            try producer.flush(timeoutMilliseconds: .noLimit)
            let consumer = try Consumer(KafkaProperties(fixture.properties()), topic: MockFixture.topic)
            let places = partitions.map { PartitionOffset(partition: $0, offset: 5) }
            func expectRecords(after start: () -> Bool) {
                // So that the thread falls asleep.
                pause(milliseconds: 200)
                Self.expect(within: .milliseconds(500)) {
                    while !start() { _ = consumer.poll(waiting: 1) }
                    var count = 0
                    while count < 20 {
                        guard case .record(let record, _)? = consumer.poll(waiting: 100) else { continue }
                        count += 1
                        #expect(record.stamp.place.offset >= 5)
                    }
                }
            }
            for _ in 0..<5 {
                _ = consumer.pause(try consumer.assignment().sorted())
                try consumer.assign(places)
                _ = consumer.pause(Array(partitions))
                expectRecords {
                    guard consumer.seek(places, limit: 400).isEmpty, consumer.resume(Array(partitions)).isEmpty,
                        consumer.seek(places, limit: 400).isEmpty
                    else { return false }
                    consumer.wake(Array(partitions), limit: 20)
                    return true
                }
                expectRecords { consumer.seek(places, limit: 400).isEmpty }
            }
            consumer.discard()
        }
    }

    @Test(arguments: [
        "", "GET /a HTTP/1.1\r\nHost: h\r\nA: ", "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n",
    ])
    func `a request that drips in is cut within 3 s after its limit`(start: String) throws {
        var limits = HTTPCallLimits()
        limits.requestSeconds = 1
        let server = try HTTPCallServer(address: "127.0.0.1", port: 0, limits: limits) { _, responder in
            responder.answer(HTTPReply(status: 200, body: []))
        }
        let client = try #require(RawClient(server.port))
        client.write(start)
        Self.expect(within: .seconds(4)) {
            let isCut = eventually {
                pause(milliseconds: 50)
                return client.write("a")
            } until: {
                !$0
            }
            #expect(isCut)
        }
    }

    @Test func `a call without an answer ends within 5 s after its limit`() throws {
        let server = try HTTPCallServer(address: "127.0.0.1", port: 0, limits: HTTPCallLimits()) {
            _,
            responder in
            later(milliseconds: 30_000) { responder.answer(HTTPReply(status: 200, body: [])) }
        }
        var options = ClientOptions()
        options.totalMilliseconds = 300
        let client = try HTTPClient(options)
        client.enqueue(ClientCall(tag: 1, method: .get, url: "http://127.0.0.1:\(server.port)/a"))
        Self.expect(within: .milliseconds(5_300)) {
            let hasEnded = eventually({ client.poll(milliseconds: 50).count }, until: { $0 > 0 })
            #expect(hasEnded)
        }
    }
}
