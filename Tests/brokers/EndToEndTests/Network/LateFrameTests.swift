import Broker
import BrokerKit
import ChaosKit
import Kafka
import KafkaKit
import KafkaPorts
import Member
import Pipeline
import Settings
import Streams
import Testing

/// KAFKA-17754: the network holds one request of a transaction, the library repeats it inside a call that succeeds, and
/// the held one arrives in the middle of the next transaction.
@Suite(
    .brokerTests,
    .cluster(.behindNetwork),
    .serialized
)
struct LateFrameTests {
    enum Late: CaseIterable, Sendable {
        /// Makes the next transaction's records so far visible, without its offsets.
        case commit
        /// Drops it, and the following records pass.
        case abort
        /// Moves the group back.
        case offsets

        var fault: NetworkFault {
            var fault =
                self == .offsets
                ? NetworkFault(.hold(.behindNext(.transactionOffsetCommit)), .transactionOffsetCommit)
                : NetworkFault(.hold(.behindNext(.produce)), .endTransaction)
            if self != .offsets { fault.isCommit = self == .commit }
            return fault
        }
    }

    private static let (requests, before) = (30, 10)

    /// The readers' view after one late frame.
    private struct Outcome: Equatable {
        var (results, different): (Int, Int)
        var committed: Int64?
    }

    private static let exactlyOnce = Outcome(results: requests, different: requests, committed: Int64(requests))

    private func play(
        _ late: Late,
        _ prefix: String
    ) throws -> (outcome: Outcome, frame: HeldFrame) {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let network = try #require(cluster.network)
        let fixture = try RealFixture(prefix, servers: network.bootstrapServers)
        _ = try fixture.create()
        try publish(fixture)
        var settings = fixture.settings("one")
        // All of a batch in one request, so that the late frame follows all of it.
        settings.properties.append(("linger.ms", "100"))
        // The library takes a moment to repeat the request; an abort that times out gets a new producer anyway.
        settings.abortMilliseconds = 20_000
        let driver = try MemberDriver(.exactlyOnce, settings)
        let all = try driver.records(Self.requests)
        let first = all.filter { $0.offset < Self.before }
        let rest = all.filter { $0.offset >= Self.before }
        var fault = late.fault
        fault.transactionalID = "\(prefix)-one"
        let number = network.plan(fault)
        if late == .abort { try drop(first, driver) } else { try driver.commit(first, first.outputs(.results)) }
        #expect(network.wait { $0.done.contains(number) }, "one request was held")
        switch late {
        case .commit:
            // This transaction is never committed, like that of a worker that dies.
            driver.fail(rest, rest.outputs(.results))
            #expect(network.wait { $0.delivered.contains { $0.fault == number } }, "it arrived late")
            try finish(driver, fixture)
        case .abort:
            // Where the late frame hits, this goes through and is lost.
            let again = try driver.records(Self.requests)
            do { try driver.commit(again, again.outputs(.results)) } catch let fault as KafkaFault
                where fault.isRecoverable
            { try finish(driver, fixture) }
        case .offsets:
            try driver.commit(rest, rest.outputs(.results))
        }
        try driver.member.close()
        let values = try fixture.values(of: .results)
        let outcome = Outcome(
            results: values.count,
            different: Set(values).count,
            committed: try fixture.committed().first ?? nil
        )
        return (outcome, try #require(network.events.held.first { $0.fault == number }))
    }

    private func publish(_ fixture: RealFixture) throws {
        let producer = try Producer(KafkaProperties(fixture.properties))
        for number in 0..<Self.requests {
            let text = bytes("request \(number)")
            try producer.produce(topic: fixture.names.requests, partition: 0, key: text, value: text)
        }
        try producer.flush(timeoutMilliseconds: 30_000)
    }

    /// Writes a transaction's outputs, then aborts it in order.
    private func drop(_ batch: MemberBatch, _ driver: MemberDriver) throws {
        driver.fail(batch, batch.outputs(.results))
        try driver.abort()
    }

    /// Commits the requests that the group has not committed yet.
    private func finish(_ driver: MemberDriver, _ fixture: RealFixture) throws {
        for _ in 0..<3 {
            let left = Self.requests - Int(try fixture.committed().first.flatMap(\.self) ?? 0)
            guard left > 0 else { return }
            try driver.abort()
            let batch = try driver.records(left)
            do { return try driver.commit(batch, batch.outputs(.results)) } catch let fault as KafkaFault
                where fault.isRecoverable
            { continue }
        }
    }

    @Test(arguments: Late.allCases)
    func `a late frame of a repeated transaction has no effect`(late: Late) throws {
        let (outcome, frame) = try play(late, "late-\(late)")
        #expect(outcome == Self.exactlyOnce)
        #expect(frame.metLaterTransaction && frame.answer != nil, "\(frame)")
        // INVALID_PRODUCER_EPOCH
        if late != .offsets { #expect(frame.errorCode == 47) }
    }

    /// Commands write the ledger by the same rules.
    @Test func `a late commit of an import's transaction does not end its next one`() throws {
        let network = try #require(RealClusterTrait.cluster?.network)
        let workplace = try ProgramWorkplace("import-late") {
            $0.kafka.append(("bootstrap.servers", network.bootstrapServers))
        }
        let access = try workplace.access
        let writer = try LedgerWriter(access, transactionRecords: 2)
        try writer.open()
        let ends = try LedgerReader(access, partitions: workplace.partitions).readSettled { _ in }
        var fault = NetworkFault(.hold(.behindNext(.produce)), .endTransaction)
        (fault.isCommit, fault.transactionalID) = (true, try access.transactionalID())
        let number = network.plan(fault)
        let records = (0..<6 as Range<UInt8>).map {
            LedgerRecord(partition: Int32($0 % 3), key: [99, $0], value: [1])
        }
        var rest = records[...]
        try writer.write(from: ends) { rest.popFirst() }
        #expect(writer.written == 6)
        let frame = try #require(network.events.held.first { $0.fault == number })
        // INVALID_PRODUCER_EPOCH
        #expect(frame.metLaterTransaction && frame.errorCode == 47, "\(frame)")
        let written = try workplace.liveLedgerKeys()
        #expect(written == Dictionary(grouping: records, by: \.partition).mapValues { Set($0.map(\.key)) })
    }
}
