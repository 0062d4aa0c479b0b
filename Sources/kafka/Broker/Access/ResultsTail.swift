internal import Kafka
package import KafkaPorts
package import Settings
internal import Streams

/// Follows the results topic: committed records only, without a group.
package final class ResultsTail {
    private static let roundRecords = 1_000
    private static let waitMilliseconds = 200
    private static let answerMilliseconds = 10_000

    private let topic: String
    private let reader: any RecordReading

    /// Asks the broker where the partitions end: one that is away is a fault here.
    ///
    /// - Parameters:
    ///   - chosen: the partitions to read; nil = all of them.
    ///   - fromBeginning: whether the results that are there come first.
    /// - Throws: ``ConfigurationFault`` where the configuration has no broker that outlives a process.
    package init(_ configuration: Configuration, only chosen: [Int32]? = nil, fromBeginning: Bool = false) throws {
        guard !configuration.embeddedBroker, let topic = configuration.topics.outputs[.results] else {
            throw ConfigurationFault(
                "worker.json: embeddedBroker: that broker ends with its worker, and its results too."
            )
        }
        let properties = KafkaProperties(try configuration.brokerProperties()).completed(defaults: [("log_level", "0")])
        self.topic = topic
        reader = try Self.explaining(topic) {
            let reader = try TopicReader(properties, topic: topic)
            let all = try PartitionCounts(Admin(properties)).count(of: topic)
            try reader.start(
                (chosen ?? Array(0..<all)).map { partition in
                    let marks = try BrokerRetry.ask { () throws(KafkaFault) in
                        try reader.watermarks(of: partition, timeoutMilliseconds: Self.answerMilliseconds)
                    }
                    let offset = fromBeginning ? PartitionOffset.beginning : marks.high
                    return PartitionOffset(partition: partition, offset: offset)
                }
            )
            return reader
        }
    }

    /// The results that are ready, in each partition's order; none where none came for a moment.
    package func poll() throws -> [TopicRecord] {
        try Self.explaining(topic) {
            try reader.records(most: Self.roundRecords, waiting: Self.waitMilliseconds)
        }
    }

    private static func explaining<Result>(_ topic: String, _ work: () throws -> Result) throws -> Result {
        try CommandFault.explaining("cannot read \(topic)", by: \.description, work)
    }
}
