package import Broker
internal import Foundation
internal import Kafka
internal import KafkaKit
internal import KafkaPorts
package import Settings
package import Streams
internal import TestKit
internal import Testing

extension BrokerSettings {
    package var groupID: String { KafkaProperties(properties)["group.id"] ?? "" }
}

/// Six topics of their own on the suite's broker.
package struct RealFixture {
    package let names: TopicNames
    package let properties: [(String, String)]

    /// - Parameters:
    ///   - servers: nil = the suite's broker.
    ///   - sessionSeconds: after which the group drops a member that is silent.
    package init(
        _ prefix: String,
        servers: String? = nil,
        sessionSeconds: Int = 6
    ) throws {
        let servers = try servers ?? #require(RealClusterTrait.cluster).bootstrapServers
        names = TopicNames(
            requests: "\(prefix).requests",
            outputs: Dictionary(uniqueKeysWithValues: OutputTopic.required.map { ($0, "\(prefix).\($0.rawValue)") })
        )
        properties = [
            ("bootstrap.servers", servers), ("group.id", prefix),
            ("session.timeout.ms", String(sessionSeconds * 1_000)),
            ("heartbeat.interval.ms", "200"), ("log_level", "0"),
        ]
    }

    package func create(partitions: Int = 3, replication: Int? = nil) throws -> TopicReport {
        try TopicCreator.createTopics(
            properties: properties,
            topics: names,
            partitions: partitions,
            replication: replication,
            timeoutMilliseconds: .noLimit
        )
    }

    package func findings() throws -> [TopicFinding] {
        try TopicCheck.findings(properties: properties, topics: names)
    }

    package func settings(_ instance: String, _ membership: GroupMembership = .dynamic) -> BrokerSettings {
        var settings = BrokerSettings(
            properties: properties,
            topics: names,
            instanceName: instance,
            membership: membership
        )
        // These tests commit without a worker: their ledgers hold no marks.
        settings.guardsPositions = false
        return settings
    }

    /// The values that an output topic holds, as a reader of this isolation level sees them, partition by partition.
    package func values(of stream: OutputTopic, _ isolation: String = "read_committed") throws -> [String] {
        let more = [("isolation.level", isolation), ("enable.partition.eof", "true"), ("fetch.wait.max.ms", "10")]
        let consumer = try Consumer(KafkaProperties(properties + more), topic: try #require(names.outputs[stream]))
        let all = 0..<3 as Range<Int32>
        try consumer.assign(all.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        var values: [(partition: Int32, text: String)] = []
        var open = Set(all)
        _ = try consumer.poll { event in
            if case .message(let message) = event {
                values.append((message.partition, String(decoding: message.take().value ?? [], as: UTF8.self)))
            }
            if case .endOfPartition(let end) = event { open.remove(end.partition) }
            return open.isEmpty
        }
        #expect(open.isEmpty, "not read to its end")
        return all.flatMap { partition in values.filter { $0.partition == partition }.map(\.text) }
    }

    /// The group's next offset of each partition; nil = nothing committed.
    /// Offsets in a transaction whose markers are being written are requested again.
    package func committed() throws -> [Int64?] {
        var watch = StandstillWatch<KafkaFault>()
        while true {
            do { return try askCommitted() } catch let fault as KafkaFault where fault.isRetriable {
                if watch.isStill(fault) { throw fault }
                pause(milliseconds: 100)
            }
        }
    }

    private func askCommitted() throws -> [Int64?] {
        try Admin(KafkaProperties(properties)).committedOffsets(
            ofGroup: KafkaProperties(properties)["group.id"] ?? "",
            topic: names.requests,
            partitions: [0, 1, 2]
        )
        .map(\.offset)
    }

    /// Runs kcat on the requests topic. - Returns: what it printed.
    @discardableResult
    package func kcat(_ arguments: [String], input: String = "") throws -> String {
        let servers = KafkaProperties(properties)["bootstrap.servers"] ?? ""
        return String(decoding: try Kcat.run(servers, topic: names.requests, arguments, input: input), as: UTF8.self)
    }
}
