package import Broker
package import Kafka
internal import KafkaKit
package import Settings
internal import Streams

extension TopicNames {
    /// Six topics with short names.
    package static let ofTests = TopicNames(
        requests: "requests",
        outputs: [.results: "results", .tokens: "tokens", .events: "events", .deadLetters: "dead", .ledger: "ledger"]
    )
}

/// Runs a test with a mock cluster that has the worker's topics, each of four partitions, and the settings of a member.
package func withMockTopics(_ body: (MockCluster, BrokerSettings) throws -> Void) throws {
    try withMock { fixture in
        for name in TopicNames.ofTests.all { try fixture.cluster.createTopic(name, partitions: 4) }
        var settings = BrokerSettings(
            properties: fixture.properties(),
            topics: TopicNames.ofTests,
            instanceName: "one",
            membership: .dynamic
        )
        settings.commitsOffsetsAside = true
        settings.guardsPositions = false
        try body(fixture.cluster, settings)
    }
}
