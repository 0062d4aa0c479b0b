import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

/// Transactions on the mock, which never hides an aborted record and keeps no offsets sent in one.
@Suite(.waiting)
struct TransactionTests {
    @Test func `a record too large for the client is the record's fault, and nothing else is`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional([("message.max.bytes", "2000")])
            try producer.begin()
            let fault = #expect(throws: KafkaFault.self) {
                try producer.produceRecord(String(repeating: "x", count: 3_000), partition: 0)
            }
            #expect(fault?.isRecordFault == true)
            for fault in [KafkaFault.invalid("a"), .fatal("b"), .stale("c"), .timedOut("d")] {
                #expect(!fault.isRecordFault)
            }
        }
    }

    @Test func `a full queue does not spoil the transaction`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional([("queue.buffering.max.messages", "1"), ("linger.ms", "500")])
            try producer.begin()
            try producer.produceRecord("first", partition: 0)
            let fault = #expect(throws: KafkaFault.self) {
                try producer.produceRecord("second", partition: 0, budgetMilliseconds: 0)
            }
            #expect(fault?.isQueueFull == true && fault?.requiresAbort == false && fault?.isRetriable == true)
            try producer.produceRecord("second", partition: 0)
            try producer.commit(limit: .noLimit)
            #expect(try fixture.reader([0]).records(2).map(\.value) == [bytes("first"), bytes("second")])
        }
    }

    @Test func `a flush that times out reports it and does not spoil the transaction`() throws {
        try withMock { fixture in
            let producer = try fixture.transactional()
            try producer.begin()
            try producer.produceRecord("first", partition: 0)
            try producer.flush(timeoutMilliseconds: .noLimit)
            try fixture.cluster.setBroker(1, isUp: false)
            try producer.produceRecord("second", partition: 0)
            let fault = #expect(throws: KafkaFault.self) { try producer.flush(timeoutMilliseconds: 200) }
            #expect(fault?.isRetriable == true)
            try fixture.cluster.setBroker(1, isUp: true)
            try producer.commit(limit: .noLimit)
            #expect(try fixture.reader([0]).records(2).count == 2)
        }
    }

    @Test func `a consumer that is not a member has no group metadata`() throws {
        try withMock(partitions: 1) { fixture in
            let fault = #expect(throws: KafkaFault.self) { try fixture.reader([0]).groupMetadata() }
            #expect(fault?.requiresAbort == true && fault?.isFatal == false)
            let (consumer, _) = try fixture.member()
            try consumer.close()
        }
    }

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
}

extension MockFixture {
    /// A producer that may begin.
    func transactional(_ more: [(String, String)] = []) throws -> TransactionClient {
        let producer = try TransactionClient(KafkaProperties(properties(more)), transactionalID: "id")
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

extension TransactionClient {
    func produceRecord(_ value: String, partition: Int32, budgetMilliseconds: Int = .noLimit) throws {
        try produce(
            topic: MockFixture.topic,
            partition: partition,
            key: nil,
            value: bytes(value),
            budgetMilliseconds: budgetMilliseconds
        )
    }
}
