import Broker
import BrokerKit
import Kafka
import KafkaPorts
import Log
import Pipeline
import Settings
import TestKit
import Testing

/// How a batch's outputs, ledger records and offsets become one unit, on a broker whose answers are made up.
@Suite(.waiting)
struct UnitTests {
    /// Kafka's protocol numbers.
    private static let (produce, offsetCommit, initProducerID): (Int16, Int16, Int16) = (0, 8, 22)
    private static let (addOffsets, endTransaction): (Int16, Int16) = (25, 26)
    private static let (disconnect, requestTimedOut, groupRefused, idRefused): (Int32, Int32, Int32, Int32) =
        (-195, 7, 30, 53)

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

    enum End: CaseIterable, Sendable {
        case commit, abort
    }

    private func end(_ end: End, _ driver: LogDriver, _ batch: LogBatch) throws {
        switch end {
        case .commit: try driver.commit(batch, batch.outputs(.results))
        case .abort:
            try driver.log.unit.begin()
            try driver.log.unit.append(batch.outputs(.results))
            try driver.log.unit.abort()
        }
    }

    /// Whether the next unit asks for the transactional id: the mock refuses the next such request.
    private func asksForID(_ cluster: MockCluster, _ driver: LogDriver) throws -> Bool {
        cluster.failRequests(Self.initProducerID, with: [Self.idRefused])
        do {
            try driver.log.unit.begin()
            return false
        } catch let fault as KafkaFault where fault.code == Self.idRefused {
            return true
        }
    }

    @Test(arguments: End.allCases)
    func `after a hidden repeat the next unit has a new producer, otherwise the same one`(end: End) throws {
        try withBatch { cluster, driver, batch in
            try self.end(end, driver, batch)
            #expect(try !asksForID(cluster, driver))
        }
        try withBatch { cluster, driver, batch in
            cluster.failRequests(Self.endTransaction, with: [Self.disconnect])
            try self.end(end, driver, batch)
            #expect(try asksForID(cluster, driver))
        }
    }

    @Test func `an abort waits for a request that is on its way, and keeps its producer`() throws {
        try withBatch { cluster, driver, batch in
            try cluster.setRoundTrip(1, milliseconds: 300)
            try driver.log.unit.begin()
            try driver.log.unit.append(batch.outputs(.results))
            // The library registers the partitions as soon as the first record is queued.
            pause(milliseconds: 100)
            try driver.log.unit.abort()
            #expect(try !asksForID(cluster, driver))
        }
    }

    @Test func `if the offsets beside a committed transaction fail, the broker is asked what is committed`() throws {
        try withBatch { cluster, driver, batch in
            cluster.failRequests(Self.offsetCommit, with: [Self.groupRefused])
            #expect(throws: KafkaFault.self) { try driver.commit(batch, batch.outputs(.results)) }
            try driver.log.unit.abort()
            let changes = driver.changes.count
            #expect(try driver.steps { _ in driver.changes.count > changes }, "the assignment is announced again")
            #expect(try asksForID(cluster, driver) == false, "with a producer of its own already")
        }
    }

    #if DEBUG
        @Test func `a producer that is kept after a hidden repeat is detected`() throws {
            try withBatch {
                $0.sabotage = .producerKeptAfterRepeat
            } _: { cluster, driver, batch in
                cluster.failRequests(Self.endTransaction, with: [Self.disconnect])
                try end(.commit, driver, batch)
                #expect(try !asksForID(cluster, driver))
            }
        }
    #endif

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
