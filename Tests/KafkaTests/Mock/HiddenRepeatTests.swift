import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

/// Requests that librdkafka repeats inside a call that succeeds: the first copy may still lie in the network.
@Suite(.waiting)
struct HiddenRepeatTests {
    /// Their numbers in Kafka's protocol.
    enum Request: Int16, CaseIterable, Sendable {
        case addPartitions = 24
        case addOffsets = 25
        case endTransaction = 26
        case offsetCommit = 28
    }

    enum End: CaseIterable, Sendable {
        case commit, abort
    }

    /// The mock closes the connection instead of answering.
    private static let disconnect: Int32 = -195

    private func transaction(
        _ producer: TransactionalProducer,
        _ metadata: GroupMetadata,
        _ end: End = .commit,
        offset: Int64 = 7
    ) throws {
        try producer.begin()
        try producer.produceRecord("record", partition: 0)
        try producer.flush(timeoutMilliseconds: .noLimit)
        try producer.sendOffsets(
            [PartitionOffset(partition: 0, offset: offset)],
            topic: MockFixture.topic,
            metadata,
            timeoutMilliseconds: .noLimit
        )
        switch end {
        case .commit: try producer.commit(timeoutMilliseconds: .noLimit)
        case .abort: try producer.abort(timeoutMilliseconds: .noLimit)
        }
    }

    // One member for all of them: a join takes the mock three seconds.

    @Test func `a request whose connection broke before its answer is detected, although the call succeeds`() throws {
        try withMock { fixture in
            let (consumer, metadata) = try fixture.member()
            for request in Request.allCases {
                for end in End.allCases {
                    let producer = try fixture.transactional()
                    try transaction(producer, metadata)
                    #expect(!producer.mayHaveRepeats)
                    fixture.cluster.failRequests(request.rawValue, with: [Self.disconnect])
                    if end == .abort, request != .endTransaction {
                        let fault = #expect(throws: KafkaFault.self) {
                            try transaction(producer, metadata, end, offset: 8)
                        }
                        #expect(fault?.isFatal == true && producer.mayHaveRepeats, "\(request)")
                        continue
                    }
                    try transaction(producer, metadata, end, offset: 8)
                    #expect(producer.mayHaveRepeats, "\(request), \(end)")
                    // It stays true: transactions that go well do not call the copy back.
                    try transaction(producer, metadata, offset: 9)
                    #expect(producer.mayHaveRepeats, "\(request), \(end)")
                }
            }
            try consumer.close()
        }
    }

    /// The answers of busy or moved brokers: the library asks again, and every copy is accounted for.
    private static let busy: [(Request, Int32)] = [
        (.endTransaction, 14), (.endTransaction, 15), (.endTransaction, 16), (.addPartitions, 14), (.addPartitions, 51),
        (.addOffsets, 14), (.addOffsets, 51), (.offsetCommit, 14), (.offsetCommit, 15),
    ]

    @Test func `a request that is sent again after an error answer is not a repeat`() throws {
        try withMock { fixture in
            let (consumer, metadata) = try fixture.member()
            let producer = try fixture.transactional()
            for (request, code) in Self.busy {
                fixture.cluster.failRequests(request.rawValue, with: [code, code])
                try transaction(producer, metadata)
                #expect(!producer.mayHaveRepeats, "\(request), \(code)")
            }
            try consumer.close()
        }
    }

    @Test func `hundreds of successful commits and aborts raise no alarm`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional()
            let (consumer, metadata) = try fixture.member()
            for round in 0..<400 as Range<Int64> {
                try transaction(producer, metadata, round % 5 == 4 ? .abort : .commit, offset: round)
                #expect(!producer.mayHaveRepeats, "round \(round)")
            }
            try consumer.close()
        }
    }

    @Test func `a call that is resumed while its answer is under way sends nothing again`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional()
            let (consumer, metadata) = try fixture.member()
            try transaction(producer, metadata)
            try fixture.cluster.setRoundTrip(1, milliseconds: 3_000)
            try producer.begin()
            try producer.produceRecord("record", partition: 0)
            var slices = 0
            while true {
                do {
                    try producer.commit(timeoutMilliseconds: 200)
                    break
                } catch let fault as KafkaFault where fault.isRetriable {
                    slices += 1
                }
            }
            #expect(slices > 0)
            #expect(!producer.mayHaveRepeats)
            try consumer.close()
        }
    }

    @Test func `an unanswered request for the transactional id is remembered`() throws {
        try withMock { fixture in
            let clean = try fixture.transactional()
            #expect(clean.unansweredInits == 0)
            let initProducerID: Int16 = 22
            fixture.cluster.failRequests(initProducerID, with: [Self.disconnect])
            let repeated = try fixture.transactional()
            #expect(repeated.unansweredInits == 1)
            #expect(!repeated.mayHaveRepeats)
        }
    }
}
