internal import Kafka
internal import KafkaKit
internal import Settings
internal import Streams
internal import TestKit
internal import Testing

/// Another owner's producer on the ledger topic, with records of its own.
package struct LedgerOwner {
    private let producer: TransactionClient
    package let topic: String

    /// - Parameter id: a worker's instance name, to be fenced by that worker.
    package init(_ id: String, _ fixture: RealFixture, timeoutMilliseconds: Int = 30_000) throws {
        topic = try #require(fixture.names.outputs[.ledger])
        let more = [("transaction.timeout.ms", String(timeoutMilliseconds))]
        producer = try TransactionClient(
            KafkaProperties(fixture.properties + more),
            transactionalID: "\(fixture.settings("x").groupID)-\(id)"
        )
        try producer.initTransactions(limit: .noLimit)
    }

    /// Puts records on every partition and makes sure that the broker has them.
    package func write(_ count: Int, _ word: String) throws {
        try producer.begin()
        for number in 0..<count {
            try producer.producer.produce(
                topic: topic,
                partition: Int32(number % 3),
                key: bytes("\(word) \(number)"),
                value: bytes(word)
            )
        }
        try producer.flush(timeoutMilliseconds: .noLimit)
    }

    package func commit() throws { try producer.commit(limit: .noLimit) }
}
