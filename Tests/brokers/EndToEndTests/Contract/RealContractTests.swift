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
private final class RealBrokers {
    private static let partitions = 4
    private let cluster: RealCluster
    private let network: NetworkProxy
    private let fixture: RealFixture
    /// Requests without an answer arrive, or do not, in turns.
    private var arrives = false
    /// The numbers of the faults that hold a request.
    private var late: [Int] = []

    init(_ prefix: String) throws {
        cluster = try #require(RealClusterTrait.cluster)
        network = try #require(cluster.network)
        fixture = try RealFixture(prefix, servers: network.bootstrapServers)
        _ = try fixture.create(partitions: Self.partitions)
        // Another script may have left something.
        try cause(.calm)
    }

    var world: LibraryWorld {
        var settings = fixture.settings("one")
        settings.guardsPositions = true
        settings.properties.append(("max.poll.interval.ms", "10000"))
        return LibraryWorld(settings, partitions: Int32(Self.partitions), cause)
    }

    /// What came late met a later transaction, and was answered.
    func checkLateFrames() {
        for number in late {
            let frame = network.events.held.first { $0.fault == number }
            #expect(frame?.metLaterTransaction == true && frame?.answer != nil, "\(frame as Any)")
        }
    }

    private func cause(_ fault: WorldFault) throws {
        switch fault {
        // One broker leads all, and answers when it can.
        case .leaderMoves, .slow: break
        case .away: network.set(.blackHole)
        case .back: network.set(.clear)
        case .calm:
            network.forget()
            network.set(.clear)
        case .unanswered(let api, times: 0):
            network.plan(NetworkFault(arrives ? .swallowAnswer : .swallow, api))
            arrives.toggle()
        case .unanswered(let api, let times):
            for _ in 0..<times { network.plan(NetworkFault(.cutBeforeAnswer, api)) }
        case .late(let api):
            let next: APIKey = api == .transactionOffsetCommit ? api : .produce
            late.append(network.plan(NetworkFault(.hold(.behindNext(next)), api)))
        case .topicMade(let name, let partitions):
            let admin = try Admin(KafkaProperties(fixture.properties))
            _ = try admin.createTopics([NewTopic(name: name, partitions: partitions)], timeoutMilliseconds: .noLimit)
        case .compaction:
            let often = "segment.ms=500,min.cleanable.dirty.ratio=0.01"
            try cluster.configure("topics", ledger(), "--add-config", often)
        case .ledgerRecreated:
            try cluster.deleteTopic(ledger())
            #expect(try fixture.create(partitions: Self.partitions).lines.contains { $0.hasPrefix("created") })
        case .offsetSet(let offset):
            let place = ["--group", fixture.settings("one").groupID, "--topic", "\(fixture.names.requests):0"]
            try cluster.tool(.groups, place + ["--reset-offsets", "--to-offset", String(offset), "--execute"])
        case .refused: throw Standstill("a real broker has no \(fault)")
        }
    }

    private func ledger() throws -> String { try #require(fixture.names.outputs[.ledger]) }
}

@Suite("The contract on librdkafka and a real broker", .brokerTests, .cluster(.behindNetwork), .serialized)
struct RealContractTests {
    @Test(arguments: ContractScript.scripts(in: .real))
    func `each script ends as the member expects`(script: ContractScript) throws {
        let brokers = try RealBrokers("contract-\(script.number)-\(UUID().uuidString.prefix(8))")
        let outcome = try script.run(in: brokers.world)
        brokers.checkLateFrames()
        #expect(outcome.isAllowed, "\(script) ended as \(outcome.text)")
        guard script.isModelled, !script.dependsOnMachine, !outcome.isOfNewerLibrary else { return }
        let modelled = ModelOutcomes.listed[script.number] ?? []
        #expect(modelled.contains(outcome.text), "the model is too kind: \(script) ended as \(outcome.text)")
    }
}
