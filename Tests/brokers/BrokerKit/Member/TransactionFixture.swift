internal import Broker
package import Kafka
internal import KafkaKit
internal import KafkaPorts
internal import Settings
internal import Streams
internal import TestKit
internal import Testing

/// Topics on the suite's broker, and clients for a copy from one to another.
package struct TransactionFixture {
    package let output: String
    private let topics: RealFixture

    /// - Parameter sessionSeconds: after which the group drops a member that is silent.
    package init(_ prefix: String, partitions: Int = 1, sessionSeconds: Int = 6) throws {
        let topics = try RealFixture(prefix, sessionSeconds: sessionSeconds)
        output = try #require(topics.names.outputs[.results])
        self.topics = topics
        try #require(try topics.create(partitions: partitions).allMatch)
    }

    package var input: String { topics.names.requests }
    package var properties: [(String, String)] { topics.properties }

    /// A producer that may begin.
    package func producer() throws -> TransactionClient {
        let producer = try TransactionClient(KafkaProperties(properties), transactionalID: "\(input).id")
        try producer.initTransactions(limit: .noLimit)
        return producer
    }

    /// A member of the group with an assignment, and its group metadata as of then.
    package func member() throws -> (Consumer, GroupMetadata) {
        let consumer = try Consumer(KafkaProperties(properties), topic: input)
        try consumer.subscribe()
        return (consumer, try consumer.metadataOnceAssigned())
    }

    /// The values on the output's first partition, up to its end as a reader of this isolation level sees it.
    package func outputs(_ isolation: String = "read_committed") throws -> [String] {
        try topics.values(of: .results, isolation, partitions: 1)
    }

    /// The next offset of the first partition; nil = nothing committed.
    package func committed() throws -> Int64? { try topics.committed(partitions: 1)[0] }
}

extension TransactionClient {
    package func produce(_ values: [String], to topic: String) throws {
        for value in values {
            try producer.produce(topic: topic, partition: 0, key: bytes(value), value: bytes(value))
        }
    }

    /// Sends the next offset of partition 0.
    package func send(_ offset: Int64, _ fixture: TransactionFixture, _ metadata: GroupMetadata) throws {
        try sendOffsets(
            [PartitionOffset(partition: 0, offset: offset)],
            topic: fixture.input,
            metadata,
            timeoutMilliseconds: .noLimit
        )
    }
}
