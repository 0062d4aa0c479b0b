import Gateway
import Kafka
import KafkaPorts
import Pipeline
internal import Streams
import TestKit
import Testing
internal import Threads

/// The gateway's writer and readers on the library's own broker.
@Suite(.waiting, .serialized)
struct GatewayClientTests {
    private static func record(
        _ topic: String,
        _ value: String,
        _ partition: Int32 = 0,
        ticket: UInt? = nil
    )
        -> OutboundRequest
    {
        OutboundRequest(
            topic: topic,
            partition: partition,
            key: Array("k".utf8),
            value: Array(value.utf8),
            headers: [RecordHeader("request-id", "id")],
            ticket: ticket
        )
    }

    @Test func `written records are reported with their tickets, others are not`() throws {
        let cluster = try MockCluster()
        defer { withExtendedLifetime(cluster) {} }
        try cluster.createTopic("requests", partitions: 2)
        let properties = KafkaProperties([("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")])
        let writer = RequestWriter(properties, counts: ["requests": 2]) { _ in }
        let reports = Locked<[DeliveryReport]>([])
        try writer.start { new in reports.withLock { $0 += new } }
        for ticket in 1...20 { writer.write(Self.record("requests", "v", Int32(ticket % 2), ticket: UInt(ticket))) }
        writer.write(Self.record("requests", "an event"))
        #expect(eventually({ reports.withLock { $0.count } }, until: { $0 == 20 }))
        let all = reports.withLock { $0 }
        #expect(Set(all.map(\.ticket)) == Set(1...20))
        #expect(all.allSatisfy { $0.outcome == .written && $0.offset != nil && $0.fault == nil })
        writer.stop()
        #expect(reports.withLock { $0.count } == 20)
    }

    @Test func `what no broker ever took was not written`() throws {
        let properties = KafkaProperties([
            ("bootstrap.servers", "127.0.0.1:1"), ("linger.ms", "0"), ("message.timeout.ms", "1000"),
            ("log_level", "0"),
        ])
        let faults = Locked(0)
        let writer = RequestWriter(properties, counts: ["requests": 1]) { _ in faults.withLock { $0 += 1 } }
        let reports = Locked<[DeliveryReport]>([])
        try writer.start { new in reports.withLock { $0 += new } }
        writer.write(Self.record("requests", "v", ticket: 7))
        #expect(eventually({ reports.withLock { $0.count } }, until: { $0 > 0 }))
        let report = try #require(reports.withLock { $0.first })
        #expect((report.ticket, report.outcome) == (7, .notWritten))
        #expect(report.offset == nil && report.fault != nil)
        #expect(faults.withLock { $0 } > 0)
        writer.stop()
    }

    @Test func `a record that the topic has no partition for is refused at once`() throws {
        let properties = KafkaProperties([("bootstrap.servers", "127.0.0.1:1"), ("log_level", "0")])
        let writer = RequestWriter(properties, counts: ["requests": 1]) { _ in }
        let reports = Locked<[DeliveryReport]>([])
        try writer.start { new in reports.withLock { $0 += new } }
        writer.write(Self.record("requests", "v", 1, ticket: 7))
        #expect(eventually({ reports.withLock { $0.first?.outcome } }, until: { $0 == .notWritten }))
        writer.stop()
    }

    @Test func `a reader begins at the ends that it found, on each of its partitions`() throws {
        let cluster = try MockCluster()
        defer { withExtendedLifetime(cluster) {} }
        try cluster.createTopic("results", partitions: 3)
        let properties = KafkaProperties([("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")])
        let writer = RequestWriter(properties, counts: ["results": 3]) { _ in }
        let written = Locked(0)
        try writer.start { new in written.withLock { $0 += new.count } }
        for partition in 0..<3 {
            writer.write(Self.record("results", "old", Int32(partition), ticket: UInt(partition + 1)))
        }
        try #require(eventually({ written.withLock { $0 } }, until: { $0 == 3 }))
        let read = Locked<[TopicRecord]>([])
        let reader = AnswerReader(
            of: [0, 2],
            { () throws(KafkaFault) in try TopicReader(properties, topic: "results") },
            take: { new in read.withLock { $0 += new } },
            trouble: { _ in }
        )
        try reader.start()
        #expect(eventually({ reader.awaitFirst() }, until: { $0 }), "word of both partitions' ends")
        for partition in 0..<3 { writer.write(Self.record("results", "new", Int32(partition))) }
        #expect(eventually({ read.withLock { $0.count } }, until: { $0 == 2 }))
        let records = read.withLock { $0 }
        #expect(Set(records.map(\.partition)) == [0, 2])
        #expect(records.allSatisfy { $0.value == Array("new".utf8) && $0.headers?.count == 1 })
        reader.stop()
        writer.stop()
    }

    @Test func `a reader without a broker says why`() {
        let properties = KafkaProperties([("bootstrap.servers", "127.0.0.1:1"), ("log_level", "0")])
        let make = { @Sendable () throws(KafkaFault) in try TopicReader(properties, topic: "results") }
        let reader = AnswerReader(of: [0], make, take: { _ in }, trouble: { _ in })
        #expect(throws: KafkaFault.self) { try reader.start() }
    }
}
