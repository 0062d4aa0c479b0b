import Kafka
import KafkaKit
import KafkaPorts
import Streams
import TestKit
import Testing

/// What the clients add to the library's calls; the rules of a transaction are their caller's.
@Suite("Producers of outputs", .waiting)
struct OutputClientTests {
    private static func route() -> OutputRoute {
        let stopwatch = Stopwatch()
        return OutputRoute(topics: [.results: MockFixture.topic, .ledger: "ledger"]) {
            Moment(milliseconds: Int64(stopwatch.elapsed / .milliseconds(1)))
        }
    }

    private func withProducer(
        _ more: [(String, String)] = [],
        _ body: (MockFixture, OutputClient) throws -> Void
    ) throws {
        try withMock { fixture in
            try fixture.cluster.createTopic("ledger", partitions: 4)
            let producer = try OutputClient(KafkaProperties(fixture.properties(more)), Self.route())
            producer.know([MockFixture.topic: 4, "ledger": 4])
            producer.connect(limit: 1_000)
            try body(fixture, producer)
            producer.discard()
        }
    }

    private func records(
        _ count: Int,
        to stream: OutputTopic = .results,
        partition: Int32 = 0
    ) -> ArraySlice<OutboundRecord> {
        (0..<count).map { number in
            OutboundRecord(
                stream: stream,
                partition: partition,
                sourceOffset: Int64(number),
                sourceTimestamp: 0,
                key: nil,
                value: bytes("\(number)")
            )
        }[...]
    }

    @Test func `what became of an output's records is counted from its begin`() throws {
        try withProducer { _, producer throws in
            for round in 0..<3 as Range<Int64> {
                producer.forgetDeliveries()
                #expect(producer.deliveries == DeliverySummary())
                #expect(try producer.produce(records(3)) == 3)
                #expect(try producer.produce(records(2, to: .ledger, partition: 1)) == 2)
                #expect(try producer.flush(limit: .noLimit))
                let found = producer.deliveries
                #expect(found.acknowledged == 5 && found.failed == 0 && found.firstFault == nil)
                #expect(found.firstLedgerOffsets == [1: round * 2] && found.lastLedgerOffsets == [1: round * 2 + 1])
                #expect(producer.outstanding == 0)
            }
        }
    }

    @Test func `a flush that is over too early says so, and its cause can be asked for`() throws {
        try withProducer { fixture, producer throws in
            #expect(try producer.produce(records(1)) == 1)
            #expect(try producer.flush(limit: .noLimit))
            try fixture.cluster.setBroker(1, isUp: false)
            #expect(try producer.produce(records(1)) == 1)
            #expect(try !producer.flush(limit: 50))
            #expect(producer.outstanding == 1 && producer.fatalFault == nil)
            let late = KafkaFault.timedOut("late")
            #expect(eventually({ producer.explained(late).message }, until: { $0.hasPrefix("late; last: ") }))
            try fixture.cluster.setBroker(1, isUp: true)
            #expect(try producer.flush(limit: .noLimit))
        }
    }

    @Test func `a record that the client refuses is not queued, nor are those after it`() throws {
        try withProducer([("message.max.bytes", "2000")]) { _, producer throws in
            var large = records(1)
            large[0].value = [UInt8](repeating: 7, count: 3_000)
            let refusal = #expect(throws: KafkaFault.self) { _ = try producer.produce(large) }
            #expect(refusal?.isRecordFault == true && refusal?.isFatal == false)
            let unfit = records(2) + records(1, partition: 9) + records(1)
            let fault = #expect(throws: KafkaFault.self) { _ = try producer.produce(unfit) }
            #expect(fault?.message == "topic records has no partition 9: the last one is 3")
            #expect(throws: KafkaFault.fatal("no topic is set for tokens")) {
                _ = try producer.produce(records(1, to: .tokens))
            }
            #expect(try producer.flush(limit: .noLimit))
            #expect(producer.deliveries.acknowledged == 2)
        }
    }

    @Test func `records that expire are failed and unsent`() throws {
        try withMock { fixture in
            let more = [("message.timeout.ms", "600"), ("linger.ms", "0"), ("socket.timeout.ms", "1000")]
            let producer = try OutputClient(KafkaProperties(fixture.properties(more)), Self.route())
            producer.know([MockFixture.topic: 4])
            try fixture.cluster.setBroker(1, isUp: false)
            #expect(try producer.produce(records(2)) == 2)
            while producer.outstanding > 0 { _ = try producer.flush(limit: 100) }
            let found = producer.deliveries
            #expect(found.failed == 2 && found.unsent == 2 && found.acknowledged == 0)
            #expect(found.firstFault?.isExpiry == true)
            producer.forgetDeliveries()
            #expect(producer.deliveries == DeliverySummary())
        }
    }

    @Test func `a client of transactions has no rule of its own`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional([], Self.route())
            try producer.begin()
            producer.forgetDeliveries()
            #expect(throws: KafkaFault.self) { _ = try producer.produce(records(1, partition: 9)) }
            #expect(try producer.produce(records(2)) == 2)
            // The library commits what it has: see TransactionGuard.
            try producer.commit(limit: .noLimit)
            #expect(producer.deliveries.acknowledged == 2 && producer.unanswered == UnansweredRequests())
            producer.discard()
        }
    }

    @Test func `an unanswered request for the transactional id is remembered`() throws {
        try withMock { fixture in
            #expect(try fixture.transactional([], Self.route()).unanswered.inits == 0)
            let (initProducerID, disconnect): (Int16, Int32) = (22, -195)
            fixture.cluster.failRequests(initProducerID, with: [disconnect])
            let repeated = try fixture.transactional([], Self.route())
            #expect(repeated.unanswered.inits == 1 && !repeated.unanswered.mayHaveRepeats)
        }
    }

    @Test func `a discarded producer's records are dropped, and nobody waits for them`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional([("linger.ms", "10000")], Self.route())
            try producer.begin()
            #expect(try producer.produce(records(100)) == 100)
            producer.discard()
            while producer.outstanding > 0 { producer.serve(limit: 10) }
            #expect(producer.deliveries.acknowledged == 0 && producer.deliveries.unsent == 100)
        }
    }

    /// The library counts a request that adds a partition only once it has handed it to the connection's thread.
    @Test func `producers that end right after a transaction's first record leave the process alone`() throws {
        let busy = BusyThreads(4)
        defer { busy.stop() }
        try withMock { fixture in
            for _ in 0..<100 {
                let producer = try fixture.transactional([], Self.route())
                try producer.begin()
                #expect(try producer.produce(records(1)) == 1)
                producer.discard()
            }
            ClientCloser.shared.finish()
        }
    }
}
