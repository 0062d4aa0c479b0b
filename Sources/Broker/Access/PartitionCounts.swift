package import Kafka
package import KafkaPorts
package import Settings

/// How many partitions the broker's topics have, asked once.
package struct PartitionCounts {
    private let counts: [String: Int]

    package init(_ admin: Admin, timeoutMilliseconds: Int = 10_000) throws(KafkaFault) {
        let topics = try admin.topics(timeoutMilliseconds: timeoutMilliseconds)
        counts = Dictionary(topics.map { ($0.name, $0.partitions) }) { first, _ in first }
    }

    /// - Throws: ``CommandFault`` where there is no such topic.
    package func count(of topic: String) throws(CommandFault) -> Int32 {
        guard let count = counts[topic].flatMap({ Int32(exactly: $0) }), count > 0 else {
            throw CommandFault("no such topic: \(topic); create it with attest-worker create-topics.")
        }
        return count
    }
}
