internal import Foundation
internal import Kafka

/// The broker that a configuration names, or the one inside this process.
final class BrokerAccess {
    /// Partitions of each topic of the embedded broker.
    static let embeddedPartitions = 4

    var settings: BrokerSettings
    /// Kept alive as long as its clients.
    private let embedded: MockCluster?
    private let topics: TopicNames

    /// - Parameter instance: nil = the host's name.
    init(_ configuration: Configuration, instance: String?) throws {
        topics = configuration.topics
        var properties = KafkaProperties(
            configuration.embeddedBroker
                ? configuration.kafkaProperties.map { ($0.name, $0.value) } : try configuration.brokerProperties()
        )
        if configuration.embeddedBroker {
            let cluster = try MockCluster()
            for topic in topics.all { try cluster.createTopic(topic, partitions: Self.embeddedPartitions) }
            embedded = cluster
            properties = properties.completed(
                defaults: [("group.id", "attest-worker")],
                forced: [
                    ("bootstrap.servers", cluster.bootstrapServers), ("fetch.wait.max.ms", "10"),
                    // The mock's first join takes 3 s: a shorter time-out would expel the member meanwhile.
                    ("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "300"),
                    ("log.connection.close", "false"),
                ]
            )
        } else {
            embedded = nil
        }
        var settings = BrokerSettings(
            properties: properties.pairs.map { ($0.name, $0.value) },
            topics: topics,
            instanceName: instance ?? ProcessInfo.processInfo.hostName,
            membership: configuration.membership
        )
        settings.commitsOffsetsAside = embedded != nil
        self.settings = settings
        do throws(KafkaFault) {
            try settings.validate()
            if !configuration.embeddedBroker { try settings.validateMember() }
        } catch {
            throw ConfigurationFault("kafka.properties: \(error.message).")
        }
    }

    var isEmbedded: Bool { embedded != nil }

    /// What is wrong with the topics, as far as the broker can tell.
    func findings(timeoutMilliseconds: Int = 10_000) throws -> [TopicFinding] {
        try TopicCheck.findings(
            properties: settings.properties,
            topics: topics,
            readsSettings: !isEmbedded,
            timeoutMilliseconds: timeoutMilliseconds
        )
    }

    /// The number of partitions that all topics have.
    func partitionCount() throws -> Int32 {
        let admin = try Admin(KafkaProperties(settings.properties))
        let found = try admin.topics().first { $0.name == topics.requests }
        guard let count = found.flatMap({ Int32(exactly: $0.partitions) }), count > 0 else {
            throw CommandFault("no such topic: \(topics.requests); create it with attest-worker create-topics.")
        }
        return count
    }
}
