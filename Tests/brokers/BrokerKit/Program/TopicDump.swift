internal import Foundation
package import Kafka
internal import KafkaPorts
internal import Pipeline
package import Streams
internal import TestKit

/// Reads whole topics, without joining a group.
package enum TopicDump {
    /// How far a partition reaches for this reader, and for one that sees open transactions too.
    package struct Ends: Sendable, Equatable {
        package var committed: Int64
        package var all: Int64
        /// Records, and marks of transactions, below the end that a reader of committed records does not get.
        package var unseen = 0

        /// Whether an open transaction holds readers back.
        package var isOpen: Bool { committed < all }
    }

    /// Hands each committed record of a topic to `body`, in order per partition, up to the end as it stands when reading
    /// begins.
    ///
    /// - Parameter properties: librdkafka's settings; `group.id` is not joined.
    /// - Returns: each partition's ends.
    /// - Throws: a ``ClusterFault`` where the broker gives nothing for a long time, and what `body` throws.
    @discardableResult
    package static func read(
        _ topic: String,
        _ properties: KafkaProperties,
        partitions: Int32,
        body: (InboundRecord) throws -> Void
    ) throws -> [Int32: Ends] {
        var ends = try self.ends(of: topic, properties, partitions: partitions)
        var settings = properties
        settings["enable.partition.eof"] = "true"
        // A question about ends waits behind a fetch that waits for records.
        settings["fetch.wait.max.ms"] = "10"
        let consumer = try Consumer(settings, topic: topic)
        try consumer.assign((0..<partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        var open = Set(0..<partitions)
        var counts: [Int32: Int] = [:]
        var (events, watch) = (0, StandstillWatch<Int>(seconds: 60))
        while !open.isEmpty {
            if watch.isStill(events) { throw ClusterFault(description: "\(topic): \(open) not read") }
            guard let event = consumer.poll(waiting: 1_000) else { continue }
            switch event {
            case .record(let record, _):
                counts[record.stamp.place.partition, default: 0] += 1
                try body(record.take())
            case .end(let end): open.remove(end.partition)
            case .fault(let fault) where fault.isFatal: throw fault
            default: continue
            }
            events += 1
        }
        for (partition, end) in ends {
            let low = try watermarks(consumer, partition).low
            ends[partition]?.unseen = max(0, Int(end.committed - low) - counts[partition, default: 0])
        }
        return ends
    }

    /// All of a topic as a capture file, as `kcat -C -J` would write it.
    ///
    /// - Parameter keeping: whether a record is written; called with each.
    /// - Returns: each partition's ends.
    package static func capture(
        _ topic: String,
        _ properties: KafkaProperties,
        partitions: Int32,
        to path: String,
        keeping: (InboundRecord) -> Bool = { _ in true }
    ) throws -> [Int32: Ends] {
        let file = try ProgramProcess.file(path)
        defer { try? file.close() }
        var lines: [UInt8] = []
        let ends = try read(topic, properties, partitions: partitions) { record in
            if keeping(record) { CaptureCodec.encode(record, into: &lines) }
            if lines.count > 1 << 20 {
                try file.write(contentsOf: Data(lines))
                lines = []
            }
        }
        try file.write(contentsOf: Data(lines))
        return ends
    }

    /// Each partition's ends; ``Ends/unseen`` is not counted.
    package static func ends(
        of topic: String,
        _ properties: KafkaProperties,
        partitions: Int32
    ) throws -> [Int32: Ends] {
        let committed = try Consumer(properties, topic: topic)
        var settings = properties
        settings["isolation.level"] = "read_uncommitted"
        let all = try Consumer(settings, topic: topic)
        var ends: [Int32: Ends] = [:]
        for partition in 0..<partitions {
            ends[partition] = Ends(
                committed: try watermarks(committed, partition).high,
                all: try watermarks(all, partition).high
            )
        }
        return ends
    }

    /// A topic made a moment ago, or a broker that has just come up, may need a moment.
    private static func watermarks(_ consumer: Consumer, _ partition: Int32) throws -> Watermarks {
        var watch = StandstillWatch<Int>()
        while true {
            do { return try consumer.watermarks(of: partition, timeoutMilliseconds: 10_000) } catch {
                guard error.isRetriable || error.isMissingTopic, !watch.isStill(0) else { throw error }
            }
            pause(milliseconds: 100)
        }
    }
}
