internal import Kafka
internal import KafkaPorts
internal import TestKit

/// Asks how much of the requests topic is committed, through faults of its brokers.
package final class DrainWatch {
    private var properties: KafkaProperties
    private let topic: String
    private let partitions: Int32
    /// A new one after every fault: a client that got a wrong answer may believe it for minutes.
    private var reader: Consumer?
    /// Committed requests, as of the last look.
    package private(set) var committed: Int64 = 0
    /// The last finding, for a caller that waited in vain.
    package private(set) var obstacle = "nothing was asked"

    init(_ properties: KafkaProperties, _ topic: String, _ partitions: Int32) {
        (self.properties, self.topic, self.partitions) = (properties, topic, partitions)
        // So that offsets of an open transaction do not hold back the committed ones before them.
        self.properties["isolation.level"] = "read_uncommitted"
    }

    /// The partitions of which the group has committed any request of the present topic.
    package func begun() throws -> Set<Int32> {
        let committed = try Consumer(properties, topic: topic)
            .committed(Array(0..<partitions), timeoutMilliseconds: 5_000)
        return Set(committed.filter { ($0.offset ?? 0) > 0 }.map(\.partition))
    }

    /// Whether the group has committed all that the topic holds; false where the broker cannot say now.
    package func isDrained() throws -> Bool { try drained().count == partitions }

    /// The partitions of which the group has committed all; none where the broker cannot say now.
    package func drained() throws -> Set<Int32> {
        do throws(KafkaFault) {
            let reader = if let reader { reader } else { try Consumer(properties, topic: topic) }
            self.reader = reader
            var (drained, count, obstacles): (Set<Int32>, Int64, [String]) = ([], 0, [])
            for committed in try reader.committed(Array(0..<partitions), timeoutMilliseconds: 5_000) {
                let (partition, offset) = (committed.partition, committed.offset)
                count += offset ?? 0
                let end = try reader.watermarks(of: partition, timeoutMilliseconds: 5_000).high
                if (offset ?? 0) >= end {
                    drained.insert(partition)
                } else {
                    obstacles.append("partition \(partition): \(offset ?? 0) of \(end) are committed")
                }
            }
            (committed, obstacle) = (count, obstacles.joined(separator: ", "))
            return drained
        } catch {
            // A broker that has just come back may not know its own partitions for a moment.
            guard error.isRetriable || error.isMissingTopic else { throw error }
            obstacle = error.description
            reader = nil
            pause(milliseconds: 100)
            return []
        }
    }
}
