import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Log
import Settings
import Testing

/// Behaviour of an exactly-once log alone, and how it differs from an at-least-once log.
extension RealKafkaTests {
    private func fixture(_ prefix: String, requests: Int = 30) throws -> RealFixture {
        let fixture = try RealFixture(prefix)
        _ = try fixture.create()
        #expect(try LogDriver.publish(requests, to: fixture.names.requests, fixture.properties).isComplete)
        return fixture
    }

    @Test(arguments: LogDelivery.allCases)
    func `a member that the group has removed commits nothing, and rejoins`(delivery: LogDelivery) throws {
        let fixture = try fixture("given-up-\(delivery)")
        var settings = fixture.settings("one")
        // The group drops a member that does not poll for so long.
        settings.properties += [("max.poll.interval.ms", "6000")]
        let driver = try LogDriver(delivery, settings)
        let batch = try driver.records(30)
        sleep(8)
        let fault = #expect(throws: KafkaFault.self) { try driver.commit(batch, batch.outputs(.results, .ledger)) }
        #expect(fault?.requiresAbort == true && fault?.isRecoverable == true, "\(fault as Any)")
        #expect(try fixture.committed() == [nil, nil, nil])
        if delivery == .exactlyOnce { #expect(try fixture.values(of: .results) == []) }
        try driver.abort()
        let again = try driver.records(30)
        // The library calls it lost, or revoked where it has joined again before it was asked.
        #expect(driver.changes.contains { if case .assigned = $0 { false } else { true } }, "\(driver.changes)")
        #expect(again.places == batch.places)
        try driver.commit(again, again.outputs(.results, .ledger))
        #expect(try fixture.committed().compactMap(\.self).reduce(0, +) == 30)
        try driver.log.close()
    }

    /// An abort between two requests that add partitions once ended the process inside librdkafka.
    @Test func `aborts at any moment after the first record end their transactions, and the process goes on`() throws {
        let fixture = try fixture("aborts")
        let driver = try LogDriver(.exactlyOnce, fixture.settings("one"))
        for round in 0..<15 {
            let batch = try driver.records(30)
            driver.fail(batch, batch.outputs(.results, .ledger), after: 1 + round * 4)
            try driver.log.unit.abort()
        }
        let again = try driver.records(30)
        try driver.commit(again, again.outputs(.results, .ledger))
        #expect(try fixture.values(of: .results).count == 30)
        try driver.log.close()
    }

    @Test func `after a commit with an unknown outcome, the log asks the broker for everything again`() throws {
        let fixture = try fixture("unknown")
        let broker = try #require(RealClusterTrait.cluster)
        var settings = fixture.settings("one")
        // The member outlives the pause, however long the calls take to give up.
        settings.properties += [("session.timeout.ms", "25000")]
        settings.commitMilliseconds = 5_000
        settings.abortMilliseconds = 500
        settings.prepareMilliseconds = 1_000
        let driver = try LogDriver(.exactlyOnce, settings)
        let some = try driver.records(10, limits: BatchLimits(records: 10))
        try driver.commit(some, some.outputs(.results, .ledger))
        let batch = try driver.records(20)
        let changes = driver.changes.count
        do {
            try broker.pause()
            defer { try? broker.resume() }
            let fault = #expect(throws: KafkaFault.self) {
                try driver.commit(batch, batch.outputs(.results, .ledger))
            }
            #expect(fault?.isRecoverable == true)
            // It does not wait for the broker: the next unit takes the id over.
            try driver.log.unit.abort()
        }
        driver.kept = [0, 1, 2]
        let first = try driver.gather { _ in driver.restored.count == 2 }
        #expect(driver.changes.dropFirst(changes) == [.assigned([0, 1, 2])], "\(driver.changes)")
        // Either all of it happened or nothing.
        let done = try fixture.values(of: .results).count
        #expect(try done == fixture.values(of: .ledger).count && [10, 30].contains(done))
        #expect(try fixture.committed().compactMap(\.self).reduce(0, +) == Int64(done))
        #expect(driver.restored.last?.count == done - 10, "the tail of what is known")
        if done == 10 {
            let again = try driver.records(20, after: first)
            try driver.commit(again, again.outputs(.results, .ledger))
        }
        let results = try fixture.values(of: .results)
        #expect(results.count == 30 && Set(results).count == 30)
        try driver.log.close()
    }

    @Test func `with at-least-once the ledger is written after the outputs have arrived, then the offsets`() throws {
        let fixture = try fixture("in-order")
        let driver = try LogDriver(.atLeastOnce, fixture.settings("one"))
        let batch = try driver.records(30)
        driver.fail(batch, batch.outputs(.results, .ledger))
        #expect(try fixture.values(of: .ledger) == [] && fixture.committed() == [nil, nil, nil])
        try driver.abort()
        let again = try driver.records(30)
        try driver.commit(again, again.outputs(.ledger, .results))
        // In the order in which they were handed over: what says how far the ledger was applied comes last.
        let inOrder = batch.records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
        #expect(try fixture.values(of: .ledger) == inOrder.map { "ledger \($0.partition)/\($0.offset)" })
        #expect(try fixture.committed().compactMap(\.self).reduce(0, +) == 30)
        try driver.log.close()
    }

    @Test func `with at-least-once an output that does not arrive holds back the ledger and the offsets`() throws {
        let fixture = try fixture("held-back")
        let driver = try LogDriver(.atLeastOnce, fixture.settings("one"))
        let batch = try driver.records(30)
        var outputs = batch.outputs(.results, .ledger)
        outputs[0].value = [UInt8](repeating: 7, count: 3_000_000)
        let fault = #expect(throws: KafkaFault.self) { try driver.commit(batch, outputs) }
        #expect(fault?.isRecordFault == true)
        try driver.abort()
        #expect(try fixture.values(of: .ledger) == [] && fixture.committed() == [nil, nil, nil])
        #expect(try driver.records(30).places == batch.places)
        try driver.log.close()
    }
}
