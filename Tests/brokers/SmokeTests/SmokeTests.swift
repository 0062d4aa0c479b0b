import Broker
import BrokerKit
import ContractKit
import Kafka
import KafkaPorts
import Settings
import TestKit
import Testing

/// What cannot be shown without a broker, in its shortest form: two members, and the program.
@Suite(
    "Ten promises on one real broker",
    .brokerTests,
    // A broker that a loaded machine keeps silent for long stays in its cluster.
    .cluster(ClusterSettings { $0.properties = [("broker.session.timeout.ms", "120000")] }),
    .serialized
)
struct SmokeTests {
    /// A member that a loaded machine keeps silent for long stays in its group.
    static let sessionSeconds = 120

    @Test func `six topics are created with the settings that the worker needs`() throws {
        let fixture = try RealFixture("create", sessionSeconds: Self.sessionSeconds)
        #expect(try fixture.findings().map(\.severity) == [.problem])
        let report = try fixture.create()
        #expect(report.allMatch)
        #expect(report.lines == fixture.names.all.map { "created \($0), 3 partitions" })
        #expect(try fixture.findings() == [])
        let topics = try Admin(KafkaProperties(fixture.properties)).topics(timeoutMilliseconds: .noLimit)
        for name in fixture.names.all {
            #expect(topics.contains(TopicDescription(name: name, partitions: 3, replication: 1)))
        }
        let again = try fixture.create()
        #expect(again.allMatch)
        #expect(again.lines == fixture.names.all.map { "exists \($0), as requested" })
    }

    @Test(arguments: [ContractScript.t1, .t4, .g8, .l3])
    func `outputs and offsets are one, an old owner commits neither, and members restore, share and write once`(
        script: ContractScript
    ) throws {
        let fixture = try RealFixture("contract-\(script.number)", sessionSeconds: Self.sessionSeconds)
        #expect(try fixture.create(partitions: 4).allMatch)
        let world = LibraryWorld(fixture.settings("one"), partitions: 4) { throw Standstill("nothing does \($0)") }
        let outcome = try script.run(in: world)
        #expect(outcome.isAllowed, "\(script) ended as \(outcome.text)")
    }
}
