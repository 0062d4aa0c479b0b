import Broker
import BrokerKit
import ContractKit
import Foundation
import Kafka
import KafkaPorts
import Log
import Settings
import TestKit
import Testing

/// A real broker, with topics of their own for each script.
private final class RealBrokers: ContractBrokers {
    private static let partitions = 4
    private let properties: [(String, String)]

    private init(_ properties: [(String, String)]) { self.properties = properties }

    static func world(_ number: String) throws -> LibraryWorld {
        let fixture = try RealFixture("contract-\(number)-\(UUID().uuidString.prefix(8))")
        _ = try fixture.create(partitions: partitions)
        var settings = fixture.settings("one")
        settings.guardsPositions = true
        let brokers = RealBrokers(fixture.properties)
        return LibraryWorld(brokers, settings, partitions: Int32(partitions))
    }

    var abilities: Set<Ability> { [.transactions, .fencing, .topics] }

    func cause(_ fault: WorldFault) throws {
        switch fault {
        // One broker leads all, and answers when it can.
        case .leaderMoves, .slow, .calm: break
        case .topicMade(let name, let partitions):
            let admin = try Admin(KafkaProperties(properties))
            _ = try admin.createTopics([NewTopic(name: name, partitions: partitions)], timeoutMilliseconds: .noLimit)
        default: throw Standstill("a real broker has no \(fault)")
        }
    }
}

@Suite("The contract on librdkafka and a real broker", .brokerTests, .cluster(), .serialized)
struct RealContractTests {
    @Test(arguments: AnyScript.scripts(in: .real))
    func `Each script ends as the member expects`(script: AnyScript) throws {
        let world = try RealBrokers.world(script.number)
        guard script.needs.isSubset(of: world.abilities) else { return }
        let outcome = try script.run(in: world)
        #expect(outcome.isAllowed, "\(script) ended as \(outcome.text)")
        guard script.isModelled, !script.dependsOnMachine else { return }
        let modelled = ModelOutcomes.listed[script.number] ?? []
        #expect(modelled.contains(outcome.text), "the model is too kind: \(script) ended as \(outcome.text)")
    }
}
