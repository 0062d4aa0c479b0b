import Broker
import BrokerKit
import Kafka
import KafkaPorts
import Log
import Member
import Pipeline
import Settings
import TestKit
import Testing

/// How a batch's outputs, ledger records and offsets become one unit, on a broker whose answers are made up.
@Suite(.waiting)
struct UnitTests {
    /// Kafka's protocol numbers.
    private static let (produce, offsetCommit, addOffsets): (Int16, Int16, Int16) = (0, 8, 25)
    private static let (requestTimedOut, groupRefused): (Int32, Int32) = (7, 30)

    /// A log with a batch of 20 records that has committed once, so that everything is known that it asks for.
    private func withBatch(
        _ change: (inout BrokerSettings) -> Void = { _ in },
        _ body: (MockCluster, LogDriver, LogBatch) throws -> Void
    ) throws {
        try withMockTopics(guardsPositions: true) { cluster, settings in
            var settings = settings
            change(&settings)
            #expect(try LogDriver.publish(20, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(.exactlyOnce, settings)
            let batch = try driver.records(20)
            let empty = LogBatch(generation: batch.generation)
            try driver.commit(empty, [LogDriver.output(.results, for: batch.records[0])])
            try body(cluster, driver, batch)
            try driver.log.close()
        }
    }

    @Test func `if the offsets beside a committed transaction fail, the broker is asked what is committed`() throws {
        try withBatch { cluster, driver, batch in
            cluster.failRequests(Self.offsetCommit, with: [Self.groupRefused])
            #expect(throws: KafkaFault.self) { try driver.commit(batch, batch.outputs(.results)) }
            try driver.log.unit.abort()
            let changes = driver.changes.count
            #expect(try driver.steps { _ in driver.changes.count > changes }, "the assignment is announced again")
        }
    }

    /// The fault of a commit whose outputs are not acknowledged while its offsets would be refused.
    private func fault(_ change: @escaping (inout BrokerSettings) -> Void = { _ in }) throws -> KafkaFault? {
        var result: KafkaFault?
        try withBatch {
            // Enough for the commit that comes first, on a busy machine too.
            $0.commitMilliseconds = 5_000
            change(&$0)
        } _: { cluster, driver, batch in
            cluster.failRequests(Self.produce, with: Array(repeating: Self.requestTimedOut, count: 1_000))
            cluster.failRequests(Self.addOffsets, with: [Self.groupRefused])
            result = #expect(throws: KafkaFault.self) { try driver.commit(batch, batch.outputs(.results)) }
        }
        return result
    }

    @Test func `no offset is sent before all outputs are acknowledged, and the fault counts those that were`() throws {
        let late = try #require(try fault())
        #expect(late.isTimeout && late.isRecoverable && late.requiresAbort)
        #expect(late.acknowledgedShare == 0)
        #if DEBUG
            let planted = try fault { $0.sabotage = .offsetsBeforeFlush }
            #expect(planted?.code == Self.groupRefused && planted?.acknowledgedShare == nil)
        #endif
    }

    @Test func `a unit has the transaction timeout, or half of the maximum poll interval`() throws {
        var settings = BrokerSettings(
            properties: [("group.id", "g")],
            topics: TopicNames.ofTests,
            instanceName: "one",
            membership: .static
        )
        #expect(try settings.unitMilliseconds() == 30_000)
        settings.properties += [("transaction.timeout.ms", "20000")]
        #expect(try settings.unitMilliseconds() == 20_000)
        settings.properties += [("max.poll.interval.ms", "30000")]
        #expect(try settings.unitMilliseconds() == 15_000)
        settings.commitMilliseconds = 700
        #expect(try settings.unitMilliseconds() == 700)
    }
}
