import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

/// What is not taken for a request that librdkafka repeats inside a call that succeeds. What is: the contract's T9.
@Suite(.waiting)
struct HiddenRepeatTests {
    /// Their numbers in Kafka's protocol.
    enum Request: Int16 {
        case addPartitions = 24
        case addOffsets = 25
        case endTransaction = 26
        case offsetCommit = 28
    }

    private func transaction(
        _ producer: TransactionClient,
        _ metadata: GroupMetadata,
        isAborted: Bool = false,
        offset: Int64 = 7
    ) throws {
        try producer.begin()
        try producer.produceRecord("record")
        try producer.flush(timeoutMilliseconds: .noLimit)
        try producer.sendOffsets(
            [PartitionOffset(partition: 0, offset: offset)],
            topic: MockFixture.topic,
            metadata,
            timeoutMilliseconds: .noLimit
        )
        if isAborted {
            try producer.abort(limit: .noLimit)
        } else {
            try producer.commit(limit: .noLimit)
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
                #expect(!producer.unanswered.mayHaveRepeats, "\(request), \(code)")
            }
            try consumer.close()
        }
    }

    @Test func `hundreds of successful commits and aborts raise no alarm`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional()
            let (consumer, metadata) = try fixture.member()
            for round in 0..<400 as Range<Int64> {
                try transaction(producer, metadata, isAborted: round % 5 == 4, offset: round)
                #expect(!producer.unanswered.mayHaveRepeats, "round \(round)")
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
            try producer.produceRecord("record")
            var slices = 0
            while true {
                do {
                    try producer.commit(limit: 200)
                    break
                } catch let fault as KafkaFault where fault.isRetriable {
                    slices += 1
                }
            }
            #expect(slices > 0)
            #expect(!producer.unanswered.mayHaveRepeats)
            try consumer.close()
        }
    }
}
