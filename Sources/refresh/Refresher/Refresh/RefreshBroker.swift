internal import Broker
package import Gateway
package import Kafka
package import KafkaPorts
package import Risk
internal import Run
package import Settings
internal import Telemetry

/// A refresher's clients of the broker: a member of each line's group, and the writer of requests.
package struct RefreshBroker {
    /// A line reads some dozens of receipts ahead: what the library holds beside them is bounded too.
    private static let consumerForced = [
        ("auto.offset.reset", "earliest"), ("isolation.level", "read_committed"), ("queued.min.messages", "100"),
        ("queued.max.messages.kbytes", "2048"), ("fetch.message.max.bytes", "262144"),
        ("enable.partition.eof", "false"), ("statistics.interval.ms", "0"),
    ]
    private static let consumerDefaults = [
        ("max.poll.interval.ms", "60000"), ("topic.metadata.refresh.interval.ms", "10000"),
        ("fetch.error.backoff.ms", "500"),
    ]
    private static let writerDefaults = [
        ("linger.ms", "5"),
        // A request that is not acknowledged by then is given up, and its receipt exchanged again.
        ("message.timeout.ms", "30000"), ("reconnect.backoff.max.ms", "2000"),
        ("statistics.interval.ms", "2000"),
    ]

    let topics: TopicNames
    private let membership: GroupMembership
    private let properties: KafkaProperties
    private let instance: String

    /// - Throws: ``ConfigurationFault`` where kafka.properties names no group, or no client can be made of it.
    package init(_ configuration: Configuration, instance: String) throws(ConfigurationFault) {
        (topics, membership, self.instance) = (configuration.topics, configuration.membership, instance)
        var own = KafkaProperties(try configuration.brokerProperties())
        guard own["group.id"]?.isEmpty == false else {
            throw ConfigurationFault(
                "kafka.properties: group.id is missing; set the workers' own: the lines' groups are named after it."
            )
        }
        if own["client.id"] == nil { own["client.id"] = "refresh-receipts-\(instance)" }
        properties = own
        _ = try ConfigurationFault.explaining { () throws(KafkaFault) in
            try Consumer(consumerProperties(.first).withoutBrokers, topic: receipts)
        }
    }

    var receipts: String { topics.receipts ?? "" }

    /// Notices that files of the clients were renewed.
    var renewal: ClientRenewal { ClientRenewal(properties.pairs.map { ($0.name, $0.value) }) }

    package func group(of line: ReceiptLine) -> String { "\(properties["group.id"] ?? "")-risk-\(line.name)" }

    func consumerProperties(_ line: ReceiptLine) -> KafkaProperties {
        let group = group(of: line)
        var complete = properties.completed(
            defaults: Self.consumerDefaults,
            forced: Self.consumerForced + [("group.id", group)]
        )
        complete["group.instance.id"] = membership == .static ? "\(group)-\(instance)" : nil
        return complete
    }

    package func consumer(_ line: ReceiptLine) throws(KafkaFault) -> Consumer {
        try Consumer(consumerProperties(line), topic: receipts)
    }

    /// - Parameter partitions: those of the requests.
    package func writer(partitions: Int32, trouble: @escaping @Sendable (KafkaFault) -> Void) -> RequestWriter {
        var own = properties
        own["group.id"] = nil
        return RequestWriter(
            own.completed(defaults: Self.writerDefaults),
            counts: [topics.requests: partitions],
            trouble: trouble
        )
    }

    /// The number of partitions that requests and receipts have.
    ///
    /// - Throws: ``CommandFault`` where one is missing, or they differ.
    func partitions() throws -> Int32 {
        let counts = try PartitionCounts(Admin(properties))
        let (requests, receipts) = (try counts.count(of: topics.requests), try counts.count(of: receipts))
        guard requests == receipts else {
            throw CommandFault(
                "\(topics.requests) has \(Int(requests).counted("partition")) and \(self.receipts) has \(receipts): name a new receipts "
                    + "topic with that number; a key's receipt comes there when it attests again."
            )
        }
        return requests
    }

    /// The lines that have no committed offset, although the topic has records. Asks as a member of the groups would, so
    /// that a missing right shows.
    func linesWithoutOffsets(_ partitions: Int32) throws -> [ReceiptLine] {
        let (admin, all) = (try Admin(properties), Array(0..<partitions))
        let ends = try admin.watermarks(of: receipts, partitions: all)
        let hasRecords = ends.contains { $0.watermarks.high > $0.watermarks.low }
        return try ReceiptLine.allCases.filter { line in
            let offsets = try admin.committedOffsets(ofGroup: group(of: line), topic: receipts, partitions: all)
            return hasRecords && offsets.allSatisfy { $0.offset == nil }
        }
    }
}
