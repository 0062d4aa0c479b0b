import Broker
import BrokerKit
import Kafka
import KafkaKit
import KafkaPorts
import Log
import Pipeline
import Settings
import TestKit
import Testing

/// A transaction on the writer's thread, while this thread goes on with the log.
@Suite(.waiting)
struct DetachedUnitTests {
    /// Kafka's protocol number, and an error after which the library asks again in half a second.
    private static let (endTransaction, coordinatorLoading): (Int16, Int32) = (26, 14)

    private final class Done: Sendable {
        private let count = Locked(0)
        func note() { count.withLock { $0 += 1 } }
        var isDone: Bool { count.withLock { $0 } > 0 }
    }

    /// Hands a batch over. - Returns: whether it was written.
    private func start(_ batch: LogBatch, _ log: SteppedLog) throws -> Done {
        let done = Done()
        let unit = try #require(log.roles.detached)
        try unit.start([batch.outputs(.results), batch.outputs(.ledger)], batch.positions, of: batch.generation) {
            done.note()
        }
        return done
    }

    @Test func `records come while a unit is written, and the next unit follows it`() throws {
        try withMockTopics { cluster, settings in
            #expect(try LogDriver.publish(20, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(.exactlyOnce, settings)
            let first = try driver.records(10, limits: BatchLimits(records: 10))
            cluster.failRequests(Self.endTransaction, with: Array(repeating: Self.coordinatorLoading, count: 100_000))
            let done = try start(first, driver.log)
            let second = try driver.records(10, limits: BatchLimits(records: 10))
            #expect(second.records.count == 10 && !done.isDone, "polled before the commit ended")
            cluster.answerRequests(Self.endTransaction)
            #expect(try driver.steps { _ in done.isDone })
            let unit = try #require(driver.log.roles.detached)
            try unit.finish()
            let next = try start(second, driver.log)
            #expect(try driver.steps { _ in next.isDone })
            try unit.finish()
            try driver.log.close()
            var outputs = 0
            try TopicDump.read("results", KafkaProperties(settings.properties), partitions: 4) { _ in outputs += 1 }
            #expect(outputs == 20)
        }
    }

    @Test func `a fault comes with the outcome, and the records come again after the abort`() throws {
        try withMockTopics { cluster, settings in
            #expect(try LogDriver.publish(10, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(.exactlyOnce, settings)
            let batch = try driver.records(10, limits: BatchLimits(records: 10))
            // Invalid producer epoch: the unit's fate is then unknown.
            cluster.failRequests(Self.endTransaction, with: [47])
            let done = try start(batch, driver.log)
            #expect(try driver.steps { _ in done.isDone })
            let unit = try #require(driver.log.roles.detached)
            #expect(throws: KafkaFault.self) { try unit.finish() }
            try driver.abort()
            let again = try driver.records(10)
            #expect(again.places == batch.places)
            try driver.log.close()
        }
    }

    @Test func `a group that takes partitions away during a long commit is answered once the commit has given up`()
        throws
    {
        try withMockTopics { cluster, settings in
            #expect(try LogDriver.publish(10, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(.exactlyOnce, settings)
            driver.releases = false
            let batch = try driver.records(10, limits: BatchLimits(records: 10))
            cluster.failRequests(
                Self.endTransaction,
                with: Array(repeating: Self.coordinatorLoading, count: 100_000)
            )
            let done = try start(batch, driver.log)
            var other = settings
            other.instanceName = "two"
            let second = try LogDriver(.exactlyOnce, other)
            let isRevoked = try driver.steps { _ in
                try second.step(waitMilliseconds: 10)
                return driver.changes.count == 2
            }
            #expect(isRevoked && !done.isDone, "the group was served while the commit went on: \(driver.changes)")
            #expect(try driver.steps { _ in done.isDone }, "the commit gives up")
            let unit = try #require(driver.log.roles.detached)
            #expect(throws: KafkaFault.self) { try unit.finish() }
            try driver.abort()
            try driver.log.releaseRevoked()
            #expect(
                try driver.steps { _ in
                    try second.step(waitMilliseconds: 10)
                    return driver.changes.count == 3
                }
            )
            try driver.log.close()
            try second.log.close()
        }
    }
}
