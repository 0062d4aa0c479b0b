import Broker
import BrokerKit
import Kafka
import KafkaKit
import KafkaPorts
import Settings
import Streams
import TestKit
import Testing

/// What cannot be shown without a broker, in its shortest form: two members, and the program.
@Suite(
    "Ten promises on one real broker",
    .brokerTests,
    .cluster(.slowMachine),
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

    @Test func `a commit makes outputs and offsets visible together`() throws {
        let fixture = try TransactionFixture("commit", sessionSeconds: Self.sessionSeconds)
        let producer = try fixture.producer()
        let (consumer, metadata) = try fixture.member()
        try producer.begin()
        try producer.produce(["a", "b", "c"], to: fixture.output)
        try producer.send(5, fixture, metadata)
        try producer.flush(timeoutMilliseconds: .noLimit)
        #expect(try fixture.outputs() == [])
        #expect(try fixture.outputs("read_uncommitted") == ["a", "b", "c"])
        // The offsets are pending: a request for them waits for its time-out, and no longer.
        let pending = #expect(throws: KafkaFault.self) { try consumer.committed([0], timeoutMilliseconds: 500) }
        #expect(pending?.isRetriable == true)
        try producer.commit(limit: .noLimit)
        #expect(try fixture.shownOutputs() == ["a", "b", "c"])
        #expect(try consumer.committed([0], timeoutMilliseconds: .noLimit).first?.offset == 5)
        #expect(try fixture.committed() == 5)
        try consumer.close()
    }

    @Test(arguments: ["offsets", "commit", "abort"])
    func `a newer producer with the same id fences the older one`(call: String) throws {
        let fixture = try TransactionFixture("fence-\(call)", sessionSeconds: Self.sessionSeconds)
        let older = try fixture.producer()
        let (consumer, metadata) = try fixture.member()
        try older.begin()
        try older.produce(["old"], to: fixture.output)
        try older.flush(timeoutMilliseconds: .noLimit)
        let newer = try fixture.producer()
        let fault = #expect(throws: KafkaFault.self) {
            switch call {
            case "offsets": try older.send(1, fixture, metadata)
            case "commit": try older.commit(limit: .noLimit)
            default: try older.abort(limit: .noLimit)
            }
        }
        #expect(fault?.isFatal == true && fault?.isFenced == true)
        #expect(older.fatalFault?.isFenced == true)
        let late = #expect(throws: KafkaFault.self) { try older.produce(["late"], to: fixture.output) }
        #expect(late?.isFatal == true)
        try newer.begin()
        try newer.produce(["new"], to: fixture.output)
        try newer.send(2, fixture, metadata)
        try newer.commit(limit: .noLimit)
        #expect(try fixture.shownOutputs() == ["new"])
        #expect(try consumer.committed([0], timeoutMilliseconds: .noLimit).first?.offset == 2)
        try consumer.close()
    }

    @Test func `metadata from before a rebalance is refused after it, and the next transaction works`() throws {
        let fixture = try TransactionFixture("metadata", partitions: 2, sessionSeconds: Self.sessionSeconds)
        let producer = try fixture.producer()
        let (first, old) = try fixture.member()
        try producer.begin()
        try producer.produce(["stale"], to: fixture.output)
        let second = try Consumer(KafkaProperties(fixture.properties), topic: fixture.input)
        try second.subscribe()
        // The first gives its partitions back and takes its share of the next generation.
        var new: GroupMetadata?
        var (events, watch) = (0, StandstillWatch<Int>())
        while new == nil, !watch.isStill(events) {
            for member in [second, first] {
                guard let event = try member.poll(timeoutMilliseconds: 50) else { continue }
                events += 1
                guard case .change(let change) = event else { continue }
                if member === first, case .assigned = change { new = try first.groupMetadata() }
                try member.answer(change)
            }
        }
        let fault = #expect(throws: KafkaFault.self) { try producer.send(9, fixture, old) }
        #expect(fault?.requiresAbort == true && fault?.isFatal == false)
        let refusal = #expect(throws: KafkaFault.self) { try producer.commit(limit: .noLimit) }
        #expect(refusal?.requiresAbort == true)
        try producer.abort(limit: .noLimit)
        try producer.begin()
        try producer.produce(["fresh"], to: fixture.output)
        try producer.send(1, fixture, try #require(new))
        try producer.commit(limit: .noLimit)
        #expect(try fixture.shownOutputs() == ["fresh"])
        #expect(try first.committed([0], timeoutMilliseconds: .noLimit).first?.offset == 1)
        try first.close()
        try second.close()
    }
}

extension ClusterSettings {
    /// A broker that a loaded machine keeps silent for long stays in its cluster.
    fileprivate static let slowMachine: ClusterSettings = {
        var settings = ClusterSettings()
        settings.properties = [("broker.session.timeout.ms", "120000")]
        return settings
    }()
}

extension TransactionFixture {
    /// The outputs once some show: the broker answers a commit a moment before it writes the marks that show it.
    fileprivate func shownOutputs() throws -> [String] {
        var shown: [String] = []
        _ = try eventually {
            shown = try outputs()
            return shown.count
        } until: {
            $0 > 0
        }
        return shown
    }
}
