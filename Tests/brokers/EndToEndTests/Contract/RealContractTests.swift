import Broker
import BrokerKit
import ChaosKit
import ContractKit
import Foundation
import Kafka
import KafkaPorts
import Settings
import Streams
import TestKit
import Testing

/// A real broker behind a network that reads frames, with topics of their own for each script.
private final class RealBrokers: ContractBrokers {
    private static let partitions = 4
    private let cluster: RealCluster
    private let network: NetworkProxy
    private let fixture: RealFixture
    /// Requests without an answer arrive, or do not, in turns.
    private var arrives = false

    private init(_ prefix: String) throws {
        cluster = try #require(RealClusterTrait.cluster)
        network = try #require(cluster.network)
        fixture = try RealFixture(prefix, servers: network.bootstrapServers)
        _ = try fixture.create(partitions: Self.partitions)
        // Another script may have left something.
        try cause(.calm)
    }

    static func world(_ number: String) throws -> LibraryWorld {
        let brokers = try RealBrokers("contract-\(number)-\(UUID().uuidString.prefix(8))")
        var settings = brokers.fixture.settings("one")
        settings.guardsPositions = true
        settings.properties.append(("max.poll.interval.ms", "10000"))
        return LibraryWorld(brokers, settings, partitions: Int32(partitions))
    }

    var abilities: Set<Ability> {
        [.transactions, .fencing, .topics, .silence, .frames, .compaction, .recreation, .tools]
    }

    func cause(_ fault: WorldFault) throws {
        switch fault {
        // One broker leads all, and answers when it can.
        case .leaderMoves, .slow: break
        case .away: network.set(.blackHole)
        case .back: network.set(.clear)
        case .calm:
            network.forget()
            network.set(.clear)
        case .unanswered(let api, times: 0):
            network.plan(NetworkFault(arrives ? .swallowAnswer : .swallow, ChaosKit.APIKey(rawValue: api.rawValue)))
            arrives.toggle()
        case .unanswered(let api, let times):
            for _ in 0..<times {
                network.plan(NetworkFault(.cutBeforeAnswer, ChaosKit.APIKey(rawValue: api.rawValue)))
            }
        case .late(let api):
            network.plan(NetworkFault(.hold(.behindNext(.produce)), ChaosKit.APIKey(rawValue: api.rawValue)))
        case .topicMade(let name, let partitions):
            let admin = try Admin(KafkaProperties(fixture.properties))
            _ = try admin.createTopics([NewTopic(name: name, partitions: partitions)], timeoutMilliseconds: .noLimit)
        case .compaction: try compactSoon()
        case .ledgerRecreated:
            try cluster.deleteTopic(ledger())
            #expect(try fixture.create(partitions: Self.partitions).lines.contains { $0.hasPrefix("created") })
        case .offsetSet(let offset): try setOffset(offset)
        case .refused: throw Standstill("a real broker has no \(fault)")
        }
    }

    private func ledger() throws -> String { try #require(fixture.names.outputs[.ledger]) }

    private func compactSoon() throws {
        let topic = ["--entity-type", "topics", "--entity-name", try ledger()]
        let settings = ["--add-config", "segment.ms=500,min.cleanable.dirty.ratio=0.01"]
        try cluster.tool("kafka.admin.ConfigCommand", servers + ["--alter"] + topic + settings)
    }

    private func setOffset(_ offset: Int64) throws {
        let place = ["--group", fixture.settings("one").groupID, "--topic", "\(fixture.names.requests):0"]
        try cluster.tool(
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            servers + place + ["--reset-offsets", "--to-offset", String(offset), "--execute"]
        )
    }

    private var servers: [String] { ["--bootstrap-server", cluster.bootstrapServers] }
}

@Suite("The contract on librdkafka and a real broker", .brokerTests, .cluster(.behindNetwork), .serialized)
struct RealContractTests {
    @Test(arguments: AnyScript.scripts(in: .real))
    func `each script ends as the member expects`(script: AnyScript) throws {
        let world = try RealBrokers.world(script.number)
        guard script.needs.isSubset(of: world.abilities) else { return }
        let outcome = try script.run(in: world)
        #expect(outcome.isAllowed, "\(script) ended as \(outcome.text)")
        guard script.isModelled, !script.dependsOnMachine, !outcome.isOfNewerLibrary else { return }
        let modelled = ModelOutcomes.listed[script.number] ?? []
        #expect(modelled.contains(outcome.text), "the model is too kind: \(script) ended as \(outcome.text)")
    }
}
