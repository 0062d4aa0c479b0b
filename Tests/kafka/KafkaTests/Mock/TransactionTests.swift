import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

/// Refusals of a transaction's client, a start without a broker, and what is not taken for a request that librdkafka
/// repeats inside a call that succeeds. What is: the contract's T9.
@Suite(.waiting)
struct TransactionTests {
    @Test(arguments: ["1000", "5000", "30000", "60000"])
    func `any transaction timeout is compatible with the other timeouts`(timeout: String) throws {
        let settings = [("bootstrap.servers", "127.0.0.1:1"), ("transaction.timeout.ms", timeout), ("log_level", "0")]
        _ = try TransactionClient(KafkaProperties(settings), transactionalID: "id")
    }

    @Test func `an unreachable broker is a retriable fault at the start`() throws {
        let settings = [("bootstrap.servers", "127.0.0.1:1"), ("log_level", "0")]
        let producer = try TransactionClient(KafkaProperties(settings), transactionalID: "id")
        let fault = #expect(throws: KafkaFault.self) { try producer.initTransactions(limit: 500) }
        #expect(fault?.isRetriable == true && fault?.isFatal == false && fault?.requiresAbort == false)
        #expect(fault?.message.contains("127.0.0.1:1") ?? false)
        #expect(throws: KafkaFault.self) { try producer.begin() }
        #expect(throws: KafkaFault.self) {
            try TransactionClient(KafkaProperties(settings), transactionalID: "")
        }
    }

    // MARK: - Repeats

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
        try producer.producer.put(bytes("record"))
        try producer.flush(timeoutMilliseconds: .noLimit)
        let budget = CallBudget(until: Moment(milliseconds: Int64(Int.noLimit)))
        try producer.sendOffsets([PartitionOffset(partition: 0, offset: offset)], metadata, budget)
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
            try producer.producer.put(bytes("record"))
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

extension MockFixture {
    /// A producer that may begin.
    func transactional(_ more: [(String, String)] = [], _ route: OutputRoute = .none) throws -> TransactionClient {
        let own = KafkaProperties(properties(more))
        let producer = try TransactionClient(own, transactionalID: "id", source: Self.topic, route)
        try producer.initTransactions(limit: .noLimit)
        return producer
    }

    /// A member of the group with its partitions, and its group metadata.
    func member() throws -> (Consumer, GroupMetadata) {
        let consumer = try consumer()
        try consumer.subscribe()
        return (consumer, try consumer.metadataOnceAssigned())
    }
}
