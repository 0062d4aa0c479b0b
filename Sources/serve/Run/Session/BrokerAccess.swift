internal import AppCheck
package import Broker
internal import Kafka
internal import KafkaPorts
internal import Pipeline
package import Settings
internal import Streams

/// The broker that a configuration names, or the one inside this process.
package final class BrokerAccess {
    /// Partitions of each topic of the embedded broker.
    static let embeddedPartitions = 4

    package var settings: BrokerSettings
    /// Kept alive as long as its clients.
    private let embedded: MockCluster?
    private let topics: TopicNames
    private let limits: RequestLimits
    /// A warning that the instance is named by something that passes; nil where it is not.
    private(set) var ephemeralName: String?

    /// - Parameter instance: nil = the host's name.
    package init(_ configuration: Configuration, instance: String?) throws {
        topics = configuration.topics
        limits = configuration.limits
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
                    // The mock's first join takes 3 s: with a shorter time-out it would drop the member meanwhile.
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
            instanceName: instance ?? HostName.current,
            membership: configuration.membership
        )
        if instance == nil, configuration.membership == .static, embedded == nil {
            ephemeralName = EphemeralHostName.warning(
                host: settings.instanceName,
                isContainer: EphemeralHostName.marks.contains { FileStamp($0) != nil },
                isPod: Variables.value("KUBERNETES_SERVICE_HOST") != nil
            )
        }
        settings.commitsOffsetsAside = embedded != nil
        settings.guardsPositions = embedded == nil
        self.settings = settings
        try ConfigurationFault.explaining { () throws(KafkaFault) in
            try settings.validate()
            if !configuration.embeddedBroker { try settings.validateMember() }
        }
    }

    var isEmbedded: Bool { embedded != nil }

    /// The embedded broker's address for clients, on loopback.
    var embeddedAddress: String? { embedded?.bootstrapServers }

    /// Asks for the faults of the topics, as far as the broker reports them; on any thread.
    var findings: @Sendable (_ timeoutMilliseconds: Int) throws -> [TopicFinding] {
        let (properties, topics, limits, isEmbedded) = (settings.properties, topics, limits, isEmbedded)
        return { timeout in
            try TopicCheck.findings(
                properties: properties,
                topics: topics,
                readsSettings: !isEmbedded,
                limits: limits,
                timeoutMilliseconds: timeout
            )
        }
    }

    /// Checks that a transaction can begin: asks the broker for one under the name of each loop of this instance, which
    /// ends whatever a predecessor left open. Not while the group has members: it would fence the member of that name.
    func transactionFindings(loops: Int, timeoutMilliseconds: Int = 10_000) throws -> [TopicFinding] {
        guard !isEmbedded, let group = KafkaProperties(settings.properties)["group.id"] else { return [] }
        let admin = try Admin(KafkaProperties(settings.properties))
        // If the group cannot be described, the check must not risk fencing a member.
        guard let members = try? admin.group(group, timeoutMilliseconds: timeoutMilliseconds), members.isEmpty else {
            return []
        }
        do throws(KafkaFault) {
            for member in settings.members(loops) {
                let producer = try TransactionClient(
                    member.transactionalProperties().completed(defaults: [("log_level", "0")]),
                    transactionalID: member.stableID()
                )
                try producer.initTransactions(limit: timeoutMilliseconds)
            }
            return []
        } catch {
            guard !error.isTimeout, !error.isRetriable else { throw error }
            return [TopicCheck.problem("no transaction can begin: \(error.message)")]
        }
    }

    /// A number of partitions that marks of the ledger name and the topics do not have; nil = there is none.
    func otherPartitions(than partitions: TopicPartitions) throws -> Int32? {
        guard !isEmbedded, let ledger = topics.outputs[.ledger] else { return nil }
        let properties = KafkaProperties(settings.properties).completed(defaults: [("log_level", "0")])
        let marks = try BrokerRetry.ask { () throws(KafkaFault) in
            try LedgerMarks.newest(properties, topic: ledger, partitions: partitions.requests)
        }
        return marks.values.otherPartitions(than: partitions.requests)
    }

    /// The rules for copies of the ledgers in a folder; nil where nothing tells whose copies they are.
    func snapshotRules(
        _ folder: String,
        _ state: StateSettings,
        tell: @escaping @Sendable (SnapshotNotice) -> Void
    ) -> SnapshotFolder.Rules? {
        guard !isEmbedded, let topic = topics.outputs[.ledger],
            let admin = try? Admin(KafkaProperties(settings.properties)), let cluster = admin.clusterID()
        else { return nil }
        let found = try? admin.settings(of: [topic])[topic]?["delete.retention.ms"]
        // A file must not be older than the tombstones that the topic keeps; without the right to ask, as a kept ledger.
        let most = found.flatMap { Int64($0) }.map { $0 / 10 * 9 } ?? KeptLedgers.milliseconds
        return SnapshotFolder.Rules(
            folder: folder,
            home: SnapshotFormat.home(cluster: cluster, topic: topic),
            bytesPerSecond: state.bytesPerSecond,
            mostMilliseconds: most,
            wallClock: { WallClock.milliseconds() },
            tell: tell
        )
    }

    package func partitions() throws -> TopicPartitions {
        let counts = try PartitionCounts(Admin(KafkaProperties(settings.properties)))
        return TopicPartitions(
            requests: try counts.count(of: topics.requests),
            replies: try topics.replies.map { try counts.count(of: $0) }
        )
    }
}
