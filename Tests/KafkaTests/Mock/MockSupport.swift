import Foundation
import Kafka
import Synchronization
import Testing

/// A mock cluster with one topic, and clients set up for it.
final class MockFixture {
    static let topic = "records"

    let cluster: MockCluster

    init(partitions: Int = 4) throws {
        cluster = try MockCluster()
        try cluster.createTopic(Self.topic, partitions: partitions)
    }

    /// Properties that keep the mock fast: see ``MockCluster``.
    func properties(group: String = "group", _ more: [(String, String)] = []) -> [(String, String)] {
        [
            ("bootstrap.servers", cluster.bootstrapServers), ("group.id", group), ("fetch.wait.max.ms", "10"),
            ("session.timeout.ms", "3500"), ("heartbeat.interval.ms", "200"), ("log_level", "0"),
            ("socket.nagle.disable", "true"),
        ] + more
    }

    func producer(_ more: [(String, String)] = []) throws -> Producer {
        try Producer(KafkaProperties(properties(more)))
    }

    func consumer(group: String = "group", _ more: [(String, String)] = []) throws -> Consumer {
        try Consumer(KafkaProperties(properties(group: group, more)), topic: Self.topic)
    }

    /// A consumer that reads the given partitions from their beginning, without a group.
    func reader(_ partitions: [Int32], _ more: [(String, String)] = []) throws -> Consumer {
        let consumer = try consumer(group: "reader", more)
        try consumer.assign(partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        return consumer
    }

    func properties(_ more: [(String, String)]) -> [(String, String)] {
        properties(group: "group", more)
    }
}

/// Runs a test with a mock cluster that lives until the test ends, and not just until its last mention.
func withMock(partitions: Int = 4, _ body: (MockFixture) throws -> Void) throws {
    let fixture = try MockFixture(partitions: partitions)
    try withExtendedLifetime(fixture) { try body(fixture) }
}

/// Threads that take every core, as a loaded machine's other programs do.
final class BusyThreads: Sendable {
    private let isStopped = Atomic(false)

    init(_ count: Int) {
        for _ in 0..<count {
            Thread.detachNewThread { [self] in
                while !isStopped.load(ordering: .relaxed) {}
            }
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}

extension Consumer {
    /// Polls until `isDone` returns true. - Returns: false after a time-out.
    func poll(seconds: Int = 30, until isDone: (ConsumerEvent) throws -> Bool) throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            if let event = try poll(timeoutMilliseconds: 100), try isDone(event) { return true }
        }
        return false
    }

    /// Retries until the library has started all of these partitions.
    func start(_ offsets: [PartitionOffset], seconds: Int = 10) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            do throws(KafkaFault) { return try start(offsets, timeoutMilliseconds: 1_000) } catch {
                if !error.isRetriable || ContinuousClock.now > deadline { throw error }
            }
            _ = try poll(timeoutMilliseconds: 1)
        }
    }

    /// Reads a number of records, answering changes of assignment with the committed offsets.
    func records(_ count: Int, seconds: Int = 30) throws -> [KafkaRecord] {
        var records: [KafkaRecord] = []
        guard count > 0 else { return [] }
        let isDone = try poll(seconds: seconds) { event in
            switch event {
            case .message(let message): records.append(message.take())
            case .change(let change): try answer(change)
            case .endOfPartition, .notice: break
            }
            return records.count >= count
        }
        if !isDone { Issue.record("only \(records.count) of \(count) records came") }
        return records
    }

    func answer(_ change: GroupChange) throws {
        switch change {
        case .assigned(let partitions):
            let committed = try committed(partitions, timeoutMilliseconds: 10_000)
            let starts = committed.map {
                PartitionOffset(partition: $0.partition, offset: $0.offset ?? PartitionOffset.beginning)
            }
            try assign(starts)
        case .revoked, .lost:
            try unassign()
        }
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
