import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

/// Refusals of a transaction's client, and a start without a broker.
@Suite(.waiting)
struct TransactionTests {
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
    func transactional() throws -> TransactionClient {
        let producer = try TransactionClient(KafkaProperties(properties()), transactionalID: "id")
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
    func produceRecord(_ value: String) throws {
        try producer.produce(topic: MockFixture.topic, partition: 0, key: nil, value: bytes(value))
    }
}
