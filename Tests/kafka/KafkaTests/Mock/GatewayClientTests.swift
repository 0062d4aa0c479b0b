import Gateway
import Kafka
import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing
import Threads

/// The gateway's writer and readers on the library's own broker.
@Suite(.waiting, .serialized)
struct GatewayClientTests {
    private static let topic = MockFixture.topic
    /// No broker is there.
    private static let nowhere = KafkaProperties([
        ("bootstrap.servers", "127.0.0.1:1"), ("linger.ms", "0"), ("message.timeout.ms", "1000"), ("log_level", "0"),
    ])

    private static func record(_ value: String, _ partition: Int32 = 0, ticket: UInt? = nil) -> OutboundRequest {
        OutboundRequest(
            topic: topic,
            partition: partition,
            key: bytes("k"),
            value: bytes(value),
            headers: [RecordHeader("request-id", "id")],
            ticket: ticket
        )
    }

    /// A writer that has started, and its reports.
    private static func writer(
        _ properties: KafkaProperties,
        partitions: Int32,
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in }
    ) throws -> (RequestWriter, Locked<[DeliveryReport]>) {
        let writer = RequestWriter(properties, counts: [topic: partitions], trouble: trouble)
        let reports = Locked<[DeliveryReport]>([])
        try writer.start { new in reports.withLock { $0 += new } }
        return (writer, reports)
    }

    @Test func `written records are reported with their tickets, others are not`() throws {
        try withMock(partitions: 2) { fixture in
            let properties = KafkaProperties(fixture.properties([("linger.ms", "0")]))
            let (writer, reports) = try Self.writer(properties, partitions: 2)
            for ticket in 1...20 { writer.write(Self.record("v", Int32(ticket % 2), ticket: UInt(ticket))) }
            writer.write(Self.record("an event"))
            #expect(eventually({ reports.withLock { $0.count } }, until: { $0 == 20 }))
            let all = reports.withLock { $0 }
            #expect(Set(all.map(\.ticket)) == Set(1...20))
            #expect(all.allSatisfy { $0.outcome == .written && $0.offset != nil && $0.fault == nil })
            writer.stop()
            #expect(reports.withLock { $0.count } == 20)
        }
    }

    @Test func `what no broker ever took was not written`() throws {
        let faults = Locked(0)
        let (writer, reports) = try Self.writer(Self.nowhere, partitions: 1) { _ in faults.withLock { $0 += 1 } }
        writer.write(Self.record("v", ticket: 7))
        #expect(eventually({ reports.withLock { $0.count } }, until: { $0 > 0 }))
        let report = try #require(reports.withLock { $0.first })
        #expect((report.ticket, report.outcome) == (7, .notWritten))
        #expect(report.offset == nil && report.fault != nil)
        #expect(faults.withLock { $0 } > 0)
        writer.stop()
    }

    @Test func `a record that the topic has no partition for is refused at once`() throws {
        let (writer, reports) = try Self.writer(Self.nowhere, partitions: 1)
        writer.write(Self.record("v", 1, ticket: 7))
        #expect(eventually({ reports.withLock { $0.first?.outcome } }, until: { $0 == .notWritten }))
        writer.stop()
    }

    @Test func `a reader begins at the ends that it found, on each of its partitions`() throws {
        try withMock(partitions: 3) { fixture in
            try fixture.fill(perPartition: 1, partitions: 3)
            let properties = KafkaProperties(fixture.properties([("linger.ms", "0")]))
            let read = Locked<[TopicRecord]>([])
            let reader = AnswerReader(
                of: [0, 2],
                { () throws(KafkaFault) in try TopicReader(properties, topic: Self.topic) },
                take: { new in read.withLock { $0 += new } },
                trouble: { _ in }
            )
            try reader.start()
            #expect(eventually({ reader.awaitFirst() }, until: { $0 }), "word of both partitions' ends")
            let (writer, _) = try Self.writer(properties, partitions: 3)
            for partition in 0..<3 as Range<Int32> { writer.write(Self.record("new", partition)) }
            #expect(eventually({ read.withLock { $0.count } }, until: { $0 == 2 }))
            let records = read.withLock { $0 }
            #expect(Set(records.map(\.partition)) == [0, 2])
            #expect(records.allSatisfy { $0.value == bytes("new") && $0.headers?.count == 1 })
            reader.stop()
            writer.stop()
        }
    }

    @Test func `a reader without a broker says why`() {
        let make = { @Sendable () throws(KafkaFault) in try TopicReader(Self.nowhere, topic: Self.topic) }
        let reader = AnswerReader(of: [0], make, take: { _ in }, trouble: { _ in })
        #expect(throws: KafkaFault.self) { try reader.start() }
    }
}
