package import Kafka
package import KafkaPorts
package import Settings
internal import Streams

/// The broker as the clients of the process need to know it.
package struct BrokerSettings: Sendable {
    /// kafka.properties, in order.
    package var properties: [(String, String)]
    package var topics: TopicNames
    /// Stable over restarts and unique in the group.
    package var instanceName: String
    package var membership: GroupMembership
    /// Partitions of each topic at the worker's start: if the count changes, the member ends. nil = any.
    package var partitions: Int32?
    /// The longest that a batch's output may take: see ``outputMilliseconds()``.
    package var commitMilliseconds = 60_000
    /// How long an abort waits for records in flight before it gives up its producer.
    package var abortMilliseconds = 2_000
    /// How long taking over a transactional id may take before it is tried again.
    package var prepareMilliseconds = 5_000
    /// Whether offsets are committed a second time, outside the transaction: the embedded broker drops those in it.
    package var commitsOffsetsAside = false
    /// Whether contradicting positions hold their partition; false for the embedded broker, which forgets.
    package var guardsPositions = true
    /// How many members each machine has, where a standby follows ledgers of others; nil = none are followed.
    package var standbyLoops: Int?
    /// Whether the worker was asked to stop: calls that wait for the broker then give up soon.
    package var isStopping: @Sendable () -> Bool = { false }
    /// How often the consumer tells what it knows of brokers and partitions, in milliseconds; 0 = never.
    package var statisticsMilliseconds = 0

    package init(
        properties: [(String, String)],
        topics: TopicNames,
        instanceName: String,
        membership: GroupMembership
    ) {
        (self.properties, self.topics) = (properties, topics)
        (self.instanceName, self.membership) = (instanceName, membership)
    }
}

extension BrokerSettings {
    package var group: String? { KafkaProperties(properties)["group.id"] }

    /// Refuses settings that no client accepts: a property that librdkafka does not know, a missing group or topic.
    package func validate() throws(KafkaFault) {
        try KafkaProperties(properties).validate()
        _ = try stableID()
        for stream in OutputTopic.required where topics.outputs[stream] == nil {
            throw .invalid("no topic is set for \(stream.rawValue)")
        }
    }

    /// The time of an output, from its first record to the end of its commit: the broker ends a transaction after
    /// `transaction.timeout.ms`, and half of `max.poll.interval.ms` is left for the loop's other work between polls.
    package func outputMilliseconds() throws(KafkaFault) -> Int {
        let transaction = try transactionalProperties()["transaction.timeout.ms"].flatMap { Int($0) }
        let interval = try consumerProperties()["max.poll.interval.ms"].flatMap { Int($0) }
        let limits = [transaction ?? TransactionClient.defaultTimeoutMilliseconds, (interval ?? 300_000) / 2]
        return limits.reduce(commitMilliseconds, min)
    }

    /// Refuses lines that no consumer accepts, such as time-outs that contradict each other. Joins no group.
    package func validateMember() throws(KafkaFault) {
        _ = try Consumer(try consumerProperties().withoutBrokers, topic: topics.requests)
    }

    /// The name by which the group knows this instance over restarts.
    package func stableID() throws(KafkaFault) -> String {
        guard let group, !group.isEmpty else {
            throw .invalid("kafka property group.id is required")
        }
        guard !instanceName.isEmpty else { throw .invalid("the instance needs a name") }
        return "\(group)-\(instanceName)"
    }

    func consumerProperties() throws(KafkaFault) -> KafkaProperties {
        let (own, id) = (KafkaProperties(properties), try stableID())
        let session = own["session.timeout.ms"].flatMap { Int($0) } ?? 0
        var defaults = [
            ("client.id", id),
            // A hung member holds up its group for this long; the loop polls twice a second, whatever it waits for.
            ("max.poll.interval.ms", String(max(Self.pollIntervalMilliseconds, session))),
            // Added partitions must be noticed soon: the library would look every five minutes.
            ("topic.metadata.refresh.interval.ms", "10000"),
        ]
        if statisticsMilliseconds > 0 { defaults.append(("statistics.interval.ms", String(statisticsMilliseconds))) }
        let forced = [
            // The worker must learn that an offset is gone: the library would silently go on elsewhere.
            ("auto.offset.reset", guardsPositions ? "error" : "earliest"), ("isolation.level", "read_committed"),
            // Only so is the end of a partition known where markers follow its last record.
            ("enable.partition.eof", "true"),
        ]
        var complete = own.completed(defaults: defaults, forced: forced)
        complete["group.instance.id"] = membership == .static ? id : nil
        return complete
    }

    private static let pollIntervalMilliseconds = 60_000

    /// Records in a transaction live as long as it does; it lives as long as a partition's change of leader may take.
    package func transactionalProperties() throws(KafkaFault) -> KafkaProperties { try producerProperties() }

    /// The properties for all clients but the member's consumer: none of the settings that only that one needs.
    func producerProperties() throws(KafkaFault) -> KafkaProperties {
        var properties = KafkaProperties(properties)
        if properties["client.id"] == nil { properties["client.id"] = try stableID() }
        return properties
    }
}

extension BrokerSettings {
    /// The settings of each of a process's loops, which are members of the group like those of any other process.
    ///
    /// One loop has the instance's own name. Several have it with a number, so that each has a transactional id and a
    /// separate static member id, the same after every restart.
    package func members(_ count: Int) -> [BrokerSettings] {
        guard count > 1 else { return [self] }
        return (0..<count).map { number in
            var member = self
            member.instanceName = "\(instanceName)-\(number)"
            return member
        }
    }
}
