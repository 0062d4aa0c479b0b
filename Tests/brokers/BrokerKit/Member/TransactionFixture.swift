package import Kafka
internal import KafkaKit
internal import KafkaPorts
internal import TestKit
internal import Testing

/// Two topics of one partition on the suite's broker, and clients for a copy from one to the other.
package struct TransactionFixture {
    package let input: String
    package let output: String
    package let properties: [(String, String)]

    /// - Parameters:
    ///   - settings: of the output topic.
    ///   - servers: other brokers than the suite's.
    ///   - sessionSeconds: after which the group drops a member that is silent.
    package init(
        _ prefix: String,
        partitions: Int = 1,
        settings: [(name: String, value: String)] = [],
        servers: String? = nil,
        sessionSeconds: Int = 6
    ) throws {
        let servers = try servers ?? #require(RealClusterTrait.cluster).bootstrapServers
        (input, output) = ("\(prefix).in", "\(prefix).out")
        properties = [
            ("bootstrap.servers", servers), ("group.id", prefix),
            ("session.timeout.ms", String(sessionSeconds * 1_000)),
            ("heartbeat.interval.ms", "200"), ("log_level", "0"),
        ]
        let topics = [
            NewTopic(name: input, partitions: partitions),
            NewTopic(name: output, partitions: partitions, settings: settings),
        ]
        let created = try admin().createTopics(topics, timeoutMilliseconds: .noLimit)
        try #require(created == [.created, .created])
    }

    package func admin() throws -> Admin { try Admin(KafkaProperties(properties)) }

    /// A producer that may begin.
    package func producer(_ more: [(String, String)] = []) throws -> TransactionClient {
        let producer = try TransactionClient(
            KafkaProperties(properties + more),
            transactionalID: "\(input).id"
        )
        try producer.initTransactions(limit: .noLimit)
        return producer
    }

    /// A member of the group with an assignment, and its group metadata as of then.
    package func member() throws -> (Consumer, GroupMetadata) {
        let consumer = try Consumer(KafkaProperties(properties), topic: input)
        try consumer.subscribe()
        return (consumer, try consumer.metadataOnceAssigned())
    }

    package func topicReader() throws -> TopicReader { try TopicReader(KafkaProperties(properties), topic: output) }

    /// The values on the output's partition, up to its end as a reader of this isolation level sees it.
    package func outputs(_ isolation: String = "read_committed") throws -> [String] {
        let more = [("isolation.level", isolation), ("enable.partition.eof", "true"), ("fetch.wait.max.ms", "10")]
        let consumer = try Consumer(KafkaProperties(properties + more), topic: output)
        try consumer.assign([PartitionOffset(partition: 0, offset: PartitionOffset.beginning)])
        var values: [String] = []
        let isDone = try consumer.poll { event in
            if case .message(let message) = event {
                values.append(String(decoding: message.take().value ?? [], as: UTF8.self))
            }
            if case .endOfPartition = event { return true }
            return false
        }
        #expect(isDone)
        return values
    }

    /// The group's next offset; nil = nothing committed.
    package func committed() throws -> Int64? {
        try admin().committedOffsets(
            ofGroup: KafkaProperties(properties)["group.id"] ?? "",
            topic: input,
            partitions: [0],
            timeoutMilliseconds: .noLimit
        )
        .first?.offset
    }
}

extension TransactionClient {
    package func produce(_ values: [String], to topic: String, partition: Int32 = 0) throws {
        for value in values {
            try produce(topic: topic, partition: partition, key: bytes(value), value: bytes(value))
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
