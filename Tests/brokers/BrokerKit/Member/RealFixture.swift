package import Broker
internal import Kafka
internal import KafkaPorts
package import Settings
internal import Streams
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

    /// The group's next offset of each partition; nil = nothing committed.
    /// Offsets in a transaction whose markers are being written are requested again.
    package func committed(partitions: Int32 = 3) throws -> [Int64?] {
        let (own, all) = (KafkaProperties(properties), Array(0..<partitions))
        var watch = StandstillWatch<KafkaFault>()
        while true {
            do {
                let (admin, group) = (try Admin(own), own["group.id"] ?? "")
                let offsets = try admin.committedOffsets(ofGroup: group, topic: names.requests, partitions: all)
                return offsets.map(\.offset)
            } catch {
                guard error.isRetriable, !watch.isStill(error) else { throw error }
                pause(milliseconds: 100)
            }
        }
    }
}
