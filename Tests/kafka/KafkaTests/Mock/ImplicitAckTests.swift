import Kafka
import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing

/// librdkafka reports a batch as delivered when a later one of its partition was acknowledged, even if a broker has
/// refused the first: a broker takes any first sequence number of a producer that it does not know.
@Suite(.waiting)
struct ImplicitAckTests {
    private static let produce: Int16 = 0
    private static let notLeader: Int32 = 6
    /// Longer than a busy machine keeps a thread waiting.
    private static let roundTripMilliseconds = 2_000
    private static let pauseMilliseconds = 100

    /// The first of two batches in flight is refused once, as by a broker that does not lead the partition yet.
    ///
    /// - Returns: false when the machine was too slow: the second was produced after the first had its answer.
    private func refuseFirst(_ fixture: MockFixture, _ producer: Producer) throws -> Bool {
        try producer.put(bytes("warm-up"), to: 1)
        try producer.flush(timeoutMilliseconds: .noLimit)
        try fixture.cluster.setRoundTrip(1, milliseconds: Int32(Self.roundTripMilliseconds))
        fixture.cluster.failRequests(Self.produce, with: [Self.notLeader])
        let stopwatch = Stopwatch()
        try producer.put(bytes("first"))
        producer.poll(timeoutMilliseconds: Self.pauseMilliseconds)
        try producer.put(bytes("second"))
        return stopwatch.elapsed < .milliseconds(Self.pauseMilliseconds + Self.roundTripMilliseconds / 2)
    }

    /// Retries on a new mock cluster until two batches are in flight at once.
    private func untilInTime(_ body: (MockFixture) throws -> Bool) throws {
        var isInTime = false
        while !isInTime { try withMock { isInTime = try body($0) } }
    }

    private func values(_ fixture: MockFixture, _ count: Int) throws -> [String] {
        try fixture.reader([0]).records(count).map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }

    @Test func `a producer without transactions sends one batch at a time, and loses none`() throws {
        try untilInTime { fixture in
            let producer = try fixture.producer()
            let isInTime = try refuseFirst(fixture, producer)
            try producer.flush(timeoutMilliseconds: .noLimit)
            #expect(producer.summary.acknowledged == 3 && producer.summary.firstFault == nil)
            #expect(try values(fixture, 2) == ["first", "second"])
            return isInTime
        }
    }

    @Test func `a record that was acknowledged without an offset counts as failed, and apart for outputs`() throws {
        try untilInTime { fixture in
            let producer = try fixture.producer([("max.in.flight", "5")])
            guard try refuseFirst(fixture, producer) else { return false }
            let fault = #expect(throws: KafkaFault.self) { try producer.flush(timeoutMilliseconds: .noLimit) }
            #expect(fault?.message.contains("was acknowledged without an offset: it may be lost") == true)
            let summary = producer.summary
            #expect(summary.acknowledged == 2 && summary.withoutOffset == 1)
            #expect(summary.failed == 0 && summary.unsent == 0)
            #expect(try values(fixture, 1) == ["second"])
            return true
        }
    }
}
