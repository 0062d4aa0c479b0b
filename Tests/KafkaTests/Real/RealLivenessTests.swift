import Kafka
import Pipeline
import TestSupport
import Testing
import Worker

/// What a member does while the broker leaves it waiting.
extension RealKafkaTests {
    @Test func `partitions are read while another's ledger waits for an open transaction`() throws {
        let fixture = try RealFixture("one-by-one")
        _ = try fixture.create()
        #expect(try LogDriver.publish(30, to: fixture.names.requests, fixture.properties).isComplete)
        let owner = try TransactionalProducer(KafkaProperties(fixture.properties), transactionalID: "one-by-one-other")
        try owner.initTransactions(timeoutMilliseconds: 30_000)
        try owner.begin()
        let ledger = try #require(fixture.names.outputs[.ledger])
        try owner.produce(topic: ledger, partition: 1, key: bytes("key"), value: bytes("value"))
        try owner.flush(timeoutMilliseconds: 30_000)
        let driver = try LogDriver(.exactlyOnce, fixture.settings("one"))
        var batch = LogBatch()
        let areRead = try driver.steps { round in
            if !round.records.isEmpty {
                batch = LogBatch(records: batch.records + round.records, generation: round.generation)
            }
            return Set(batch.records.map(\.partition)) == [0, 2]
        }
        #expect(areRead && driver.completed.sorted() == [0, 2] && driver.restored.isEmpty)
        // What they made of them is committed.
        try driver.commit(batch, batch.outputs(.results, .ledger))
        #expect(try fixture.committed().map { $0 == nil } == [false, true, false])
        try owner.commit(timeoutMilliseconds: 30_000)
        let rest = try driver.records(30 - batch.records.count)
        #expect(rest.records.contains { $0.partition == 1 } && driver.restored.count == 1)
        try driver.log.close()
    }

    /// Before, it was retried without a pause: 2,100 producers in 9 s.
    @Test func `a transaction time-out that the broker does not allow ends the worker with a line that says so`() throws
    {
        let fixture = try RealFixture("time-out")
        _ = try fixture.create()
        var settings = fixture.settings("one")
        settings.properties += [("transaction.timeout.ms", "3600000")]
        let driver = try LogDriver(.exactlyOnce, settings)
        let fault = #expect(throws: KafkaFault.self) { _ = try driver.steps { _ in false } }
        #expect(fault?.endsLoop == true)
        #expect(fault?.message.contains("transaction.max.timeout.ms; lower it") == true, "\(fault as Any)")
        #expect(driver.faults.isEmpty)
        try driver.log.close()
    }
}
