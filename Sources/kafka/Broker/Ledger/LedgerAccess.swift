internal import AppAttest
internal import AppCheck
package import Kafka
package import KafkaPorts
internal import Pipeline
package import Settings
internal import Streams

/// The broker, topics and group of a configuration, for commands that read or write the ledger topic themselves.
package final class LedgerAccess {
    package let properties: KafkaProperties
    package let topics: TopicNames
    /// The ledger topic.
    package let topic: String
    /// Whether an app has a window of counters.
    let hasWindows: Bool
    let keys: KeySettings
    /// The partitioner of the requests' producers; nil where worker.json says `unchecked`.
    package let partitioner: Partitioner?
    let cluster: any LedgerCluster
    private let group: String?

    /// - Throws: ``ConfigurationFault`` for a configuration without a usable broker. Nothing is connected yet.
    package convenience init(_ configuration: Configuration) throws(ConfigurationFault) {
        guard !configuration.embeddedBroker else {
            throw ConfigurationFault(
                "worker.json: embeddedBroker: that broker ends with its worker, and its ledger with it; set it to false."
            )
        }
        // Faults are reported as one line of our own; the library's line would only repeat it.
        let properties = KafkaProperties(try configuration.brokerProperties())
            .completed(defaults: [("log_level", "0")])
        let cluster = try ConfigurationFault.explaining { () throws(KafkaFault) in try KafkaCluster(properties) }
        self.init(configuration, properties, cluster)
    }

    /// - Parameter properties: librdkafka's, with the group.
    package init(_ configuration: Configuration, _ properties: KafkaProperties, _ cluster: any LedgerCluster) {
        topics = configuration.topics
        hasWindows = configuration.registry.apps.contains { $0.counterWindow > 0 }
        (keys, partitioner) = (configuration.keys, configuration.partitioner.partitioner)
        guard let topic = topics.outputs[.ledger] else { preconditionFailure("every output has its topic") }
        (self.topic, self.properties, self.cluster) = (topic, properties, cluster)
        group = properties["group.id"].flatMap { $0.isEmpty ? nil : $0 }
    }

    package func groupID() throws(ConfigurationFault) -> String {
        guard let group else {
            throw ConfigurationFault("kafka.properties: group.id is missing; set it to the workers' own.")
        }
        return group
    }

    /// One id for all commands that write the ledger, so that of two at a time the later one stops the earlier. A
    /// worker's id is its group's name, a hyphen and its instance; no host name can make it equal to this one.
    package func transactionalID() throws(ConfigurationFault) -> String { try groupID() + "@ledger" }

    /// - Throws: ``CommandFault`` where a chosen partition is not one of these.
    package func require(_ chosen: Set<Int32>?, of partitions: Int32) throws(CommandFault) {
        guard let unknown = chosen?.filter({ $0 >= partitions }).min() else { return }
        let count = Counted.text(Int(partitions), "partition")
        throw CommandFault("\(topics.requests) has \(count), numbered from 0: there is no \(unknown).")
    }

    /// How many partitions requests and ledger have.
    func partitionCounts() throws -> (requests: Int32, ledger: Int32) {
        let counts = try CommandFault.explaining("cannot query the broker", by: \.message, cluster.partitionCounts)
        return (try counts.count(of: topics.requests), try counts.count(of: topic))
    }

    /// The partition count of requests and ledger, which must agree.
    package func partitionCount() throws -> Int32 {
        let (requests, ledger) = try partitionCounts()
        guard requests == ledger else {
            throw CommandFault(
                "\(topics.requests) has \(Counted.text(Int(requests), "partition")) and \(topic) has \(ledger): a key's "
                    + "record is on the partition of its requests, so both need the same number, and keys do not move with "
                    + "added partitions: \(KeyPlacement.remedy)."
            )
        }
        return ledger
    }

    /// - Throws: ``CommandFault`` where a mark names another number of partitions: keys lie where no request of theirs
    ///   comes.
    func require(_ marks: some Collection<PartitionMark>, toName partitions: Int32) throws(CommandFault) {
        let other = marks.otherPartitions(than: partitions)
        if let sentence = KeyPlacement.contradiction(other, partitions) { throw CommandFault("\(sentence).") }
    }

    /// The same, for commands that read the ledger for nothing else. Without the right to read it nothing is required: the
    /// workers hold such partitions.
    ///
    /// - Parameter moved: the number of a moved ledger that is taken into use again; nil = it must not be.
    package func requireMarks(toName partitions: Int32, orMovedFrom moved: Int32? = nil) throws {
        let marks: [Int32: PartitionMark]
        do throws(KafkaFault) {
            marks = try BrokerRetry.ask(on: cluster.time) { () throws(KafkaFault) in
                try cluster.newestMarks(of: topic, partitions: partitions)
            }
        } catch {
            guard error.isRefusal else { throw CommandFault("the ledger cannot be read: \(error.message).") }
            return
        }
        try require(marks.values.filter { $0.position.partitions != moved.map(-) }, toName: partitions)
    }

    /// - Throws: ``CommandFault`` where the group has members: their ledgers would miss the records written now.
    package func requireEmptyGroup() throws {
        let group = try groupID()
        let found = try retrying("cannot query the group") { () throws(KafkaFault) in try cluster.group(group) }
        guard found.isEmpty else {
            let members = found.members == 1 ? "a member" : "\(found.members) members"
            let shown =
                found.names.sorted().prefix(Self.mostNames).map(\.printable)
                + (found.members > Self.mostNames ? ["others"] : [])
            let names = shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
            throw CommandFault(
                "group \(group) has \(members)\(names): stop every worker first (static membership: a stopped worker "
                    + "counts until its session.timeout.ms is over) and try again."
            )
        }
    }

    private static let mostNames = 8

    /// The group's next offsets of the requests topic, and the first and last offsets of its partitions.
    package func requestOffsets(partitions: Int32) throws -> [RequestOffsets] {
        let (group, all) = (try groupID(), Array(0..<partitions))
        let committed = try retrying("cannot read the group's offsets") { () throws(KafkaFault) in
            try cluster.committedOffsets(ofGroup: group, topic: topics.requests, partitions: all)
        }
        return try ends(of: topics.requests, all).sorted { $0.key < $1.key }.map { partition, marks in
            let own = committed.first { $0.partition == partition }
            var found = RequestOffsets(partition: partition, committed: own?.offset, low: marks.low, high: marks.high)
            found.isOwn = own?.metadata == PartitionPositions.metadata
            return found
        }
    }

    /// A topic's oldest and next offsets; records of open transactions lie before them.
    func ends(of topic: String, _ partitions: [Int32]) throws -> [Int32: Watermarks] {
        try retrying("cannot read the ends of \(topic)") { () throws(KafkaFault) in
            try cluster.watermarks(of: topic, partitions: partitions)
        }
    }

    package func setRequestOffsets(_ offsets: [PartitionOffset]) throws {
        let group = try groupID()
        try retrying("cannot set the group's offsets") { () throws(KafkaFault) in
            try cluster.setOffsets(ofGroup: group, topic: topics.requests, offsets)
        }
    }

    private func retrying<Answer>(_ trouble: String, _ ask: () throws(KafkaFault) -> Answer) throws -> Answer {
        try CommandFault.explaining(trouble) { try BrokerRetry.ask(on: cluster.time, ask) }
    }
}

/// A partition of the requests topic: the group's next offset (nil = none yet), the oldest one, the end.
package struct RequestOffsets: Equatable {
    package var partition: Int32
    package var committed: Int64?
    package var low: Int64
    package var high: Int64
    /// Whether a worker committed it, and no other tool has set it since.
    package var isOwn = false

    package init(partition: Int32, committed: Int64?, low: Int64, high: Int64) {
        (self.partition, self.committed, self.low, self.high) = (partition, committed, low, high)
    }
}
