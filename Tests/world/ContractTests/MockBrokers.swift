import Broker
import BrokerKit
import ContractKit
import Kafka
import KafkaPorts
import Settings
import Streams

/// librdkafka's mock cluster, of two brokers.
final class MockBrokers {
    private static let numbers = 1...2 as ClosedRange<Int32>
    private static let partitions = 4
    private let topics = TopicNames.ofTests
    private let cluster: MockCluster
    /// Kinds of requests that are, or were, not answered as usual.
    private var failed: Set<APIKey> = []

    init() throws {
        cluster = try MockCluster(brokers: Self.numbers.count)
        for name in topics.all { try cluster.createTopic(name, partitions: Self.partitions) }
    }

    var world: LibraryWorld {
        let properties = [
            ("bootstrap.servers", cluster.bootstrapServers), ("group.id", "group"),
            ("fetch.wait.max.ms", "10"),
            // The mock waits for later joins as long as a session less a second, and drops who has not come by then.
            ("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "200"), ("log_level", "0"),
            ("socket.nagle.disable", "true"),
        ]
        let settings = BrokerSettings(
            properties: properties,
            topics: topics,
            instanceName: "one",
            membership: .dynamic
        )
        return LibraryWorld(settings, partitions: Int32(Self.partitions), hasTransactions: false, cause)
    }

    private func cause(_ fault: WorldFault) throws {
        switch fault {
        case .leaderMoves(let partition):
            // Partitions lie on the brokers in turn.
            let next = (partition + 1) % Int32(Self.numbers.count) + 1
            for topic in [topics.requests, topics.outputs[.ledger] ?? ""] {
                try cluster.setLeader(next, of: topic, partition)
            }
        case .slow(let milliseconds):
            for id in Self.numbers { try cluster.setRoundTrip(id, milliseconds: Int32(milliseconds)) }
        case .away: for id in Self.numbers { try cluster.setBroker(id, isUp: false) }
        case .back: for id in Self.numbers { try cluster.setBroker(id, isUp: true) }
        // Its other requests are answered as ever.
        case .unanswered(.endTransaction, times: 0): fail(.endTransaction, .transport, 10_000)
        case .unanswered(_, times: 0): try cause(.slow(milliseconds: 20_000))
        case .unanswered(let api, let times): fail(api, .transport, times)
        case .refused(let api, let code, let times): fail(api, code, times)
        case .topicMade(let name, let partitions): try cluster.createTopic(name, partitions: partitions)
        case .late, .compaction, .ledgerRecreated, .offsetSet: throw Standstill("the mock has no \(fault)")
        case .calm:
            try cause(.slow(milliseconds: 0))
            for api in failed { cluster.answerRequests(api.rawValue) }
        }
    }

    private func fail(_ api: APIKey, _ code: KafkaErrorCode, _ times: Int) {
        failed.insert(api)
        cluster.failRequests(api.rawValue, with: [Int32](repeating: code.rawValue, count: times))
    }
}
