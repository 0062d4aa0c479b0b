internal import Broker
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams

/// The events topic from its oldest record to its end at the start: committed events only.
struct EventsTopic {
    /// How long without a record until the broker counts as gone: longer than a dead worker's transaction blocks.
    private static let timeBudget = Duration.seconds(75)

    private let properties: KafkaProperties
    private let topic: String

    /// - Throws: ``ConfigurationFault`` where the configuration has no broker that outlives a process.
    init(_ configuration: Configuration) throws(ConfigurationFault) {
        guard !configuration.embeddedBroker else {
            throw ConfigurationFault("worker.json: the embedded broker keeps no events: give --input.")
        }
        guard let topic = configuration.topics.outputs[.events] else {
            throw ConfigurationFault("worker.json: no topic is set for events.")
        }
        self.topic = topic
        properties = KafkaProperties(try configuration.brokerProperties())
    }

    /// - Parameter body: called with each record's value.
    /// - Throws: ``CommandFault``.
    func read(_ body: ([UInt8]?) -> Void) throws {
        do {
            try CommandFault.explaining("cannot read \(topic)", by: \.description) { try readAll(body) }
        } catch is TopicScan.Standstill {
            throw CommandFault("\(topic) cannot be read to its end: a transaction is open, or the broker is away.")
        }
    }

    private func readAll(_ body: ([UInt8]?) -> Void) throws {
        let partitions = try PartitionCounts(Admin(properties)).count(of: topic)
        let scan = try TopicScan(properties, topic: topic, partitions: partitions, timeBudget: Self.timeBudget)
        let ends = try scan.ends()
        try scan.read(upTo: ends) { record in
            if record.offset < ends[Int(record.partition)].high { body(record.value) }
        }
    }
}
