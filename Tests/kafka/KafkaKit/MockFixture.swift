internal import Foundation
package import Kafka
internal import KafkaPorts
package import Streams
internal import Synchronization
internal import TestKit

/// A mock cluster with one topic, and clients set up for it.
package final class MockFixture {
    package static let topic = "records"

    package let cluster: MockCluster

    package init(partitions: Int = 4) throws {
        cluster = try MockCluster()
        try cluster.createTopic(Self.topic, partitions: partitions)
    }

    /// Properties that keep the mock fast: see ``MockCluster``.
    package func properties(group: String = "group", _ more: [(String, String)] = []) -> [(String, String)] {
        [
            ("bootstrap.servers", cluster.bootstrapServers), ("group.id", group), ("fetch.wait.max.ms", "10"),
            ("session.timeout.ms", "3500"), ("heartbeat.interval.ms", "200"), ("log_level", "0"),
            ("socket.nagle.disable", "true"),
        ] + more
    }

    package func producer(_ more: [(String, String)] = []) throws -> Producer {
        try Producer(KafkaProperties(properties(more)))
    }

    package func consumer(group: String = "group", _ more: [(String, String)] = []) throws -> Consumer {
        try Consumer(KafkaProperties(properties(group: group, more)), topic: Self.topic)
    }

    /// Writes so many records to each of the first partitions: their numbers, with the partition's as key.
    package func fill(
        perPartition: Int,
        partitions: Int32 = 1,
        headers: [RecordHeader] = [],
        _ more: [(String, String)] = []
    ) throws {
        let producer = try producer(more)
        for number in 0..<perPartition {
            for partition in 0..<partitions {
                try producer.put(bytes("\(number)"), key: bytes("\(partition)"), headers: headers, to: partition)
            }
        }
        try producer.flush(timeoutMilliseconds: .noLimit)
    }

    /// A consumer that reads the given partitions from their beginning, without a group.
    package func reader(_ partitions: [Int32], _ more: [(String, String)] = []) throws -> Consumer {
        let consumer = try consumer(group: "reader", more)
        try consumer.assign(partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        return consumer
    }

    package func topicReader() throws -> TopicReader {
        try TopicReader(KafkaProperties(properties()), topic: Self.topic)
    }
}

/// Runs a test with a mock cluster that lives until the test ends, and not just until its last mention.
package func withMock(partitions: Int = 4, _ body: (MockFixture) throws -> Void) throws {
    let fixture = try MockFixture(partitions: partitions)
    try withExtendedLifetime(fixture) { try body(fixture) }
}

/// Threads that take every core, as a loaded machine's other programs do.
package final class BusyThreads: Sendable {
    private let isStopped = Atomic(false)

    package init(_ count: Int) {
        for _ in 0..<count {
            Thread.detachNewThread { [self] in
                while !isStopped.load(ordering: .relaxed) {}
            }
        }
    }

    package func stop() { isStopped.store(true, ordering: .relaxed) }
}

package func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
