import Broker
import BrokerKit
import ChaosKit
import Kafka
import KafkaPorts
import Log
import Pipeline
import Settings
import Testing

/// Positions that disagree, where only a broker shows it.
extension RealKafkaTests {
    /// The marks that a worker's batch has.
    private func marks(_ batch: LogBatch, _ settings: BrokerSettings, _ delivery: LogDelivery) -> [OutboundRecord] {
        batch.positions.map { position in
            let mark = PartitionMark(
                appliedOffset: position.offset,
                group: Array(settings.groupID.utf8),
                delivery: delivery == .exactlyOnce ? .transaction : .atLeastOnce
            )
            let (key, value) = LedgerCodec.encode(.mark(mark))
            return OutboundRecord(
                stream: .ledger,
                partition: position.partition,
                sourceOffset: -1,
                sourceTimestamp: -1,
                key: key,
                value: value
            )
        }
    }

    @Test(arguments: LogDelivery.allCases)
    func `a ledger that is recreated under a worker holds its partitions, and nothing more is committed`(
        delivery: LogDelivery
    ) throws {
        let fixture = try RealFixture("cut-\(delivery)")
        _ = try fixture.create()
        var settings = fixture.settings("one")
        settings.guardsPositions = true
        #expect(try LogDriver.publish(60, to: fixture.names.requests, fixture.properties).isComplete)
        let driver = try LogDriver(delivery, settings)
        let batch = try driver.records(60)
        try driver.commit(batch, batch.outputs(.results, .ledger) + marks(batch, settings, delivery))
        driver.kept = [0, 1, 2]
        #expect(try LogDriver.publish(30, to: fixture.names.requests, fixture.properties).isComplete)
        let next = try driver.records(30)
        let committed = try fixture.committed()
        try RealClusterTrait.cluster?.deleteTopic(try #require(fixture.names.outputs[.ledger]))
        #expect(try fixture.create().lines.contains { $0.hasPrefix("created") })
        #expect(throws: KafkaFault.self) {
            try driver.commit(next, next.outputs(.results, .ledger) + marks(next, settings, delivery))
        }
        try driver.abort()
        #expect(try driver.steps { _ in driver.held.count == 3 }, "\(driver.changes) \(driver.faults)")
        #expect(driver.held.values.allSatisfy { $0.contains("the ledger has lost what belongs to it") })
        #expect(try fixture.committed() == committed)
        if delivery == .exactlyOnce { #expect(try fixture.values(of: .results).count == 60) }
        for _ in 0..<10 { #expect(try driver.step().records.isEmpty) }
        try driver.log.close()
    }
}
