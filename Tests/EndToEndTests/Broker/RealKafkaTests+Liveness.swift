import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import KafkaPorts
import Log
import Settings
import Testing

/// A member's work while the broker does not answer.
extension RealKafkaTests {
    @Test func `partitions are read while the ledger of another waits for an open transaction`() throws {
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
        let batch = try driver.gather { Set($0.records.map(\.partition)) == [0, 2] }
        #expect(driver.completed.sorted() == [0, 2] && driver.restored.isEmpty)
        // Their outputs are committed.
        try driver.commit(batch, batch.outputs(.results, .ledger))
        #expect(try fixture.committed().map { $0 == nil } == [false, true, false])
        try owner.commit(timeoutMilliseconds: 30_000)
        let rest = try driver.records(30 - batch.records.count)
        #expect(rest.records.contains { $0.partition == 1 } && driver.restored.count == 1)
        try driver.log.close()
    }

    /// Earlier versions retried it without a pause: 2,100 producers in 9 s.
    @Test func `a transaction timeout above the broker's limit ends the worker with a line that says so`() throws {
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

    /// The library stops reading at a deleted offset; the partitions have to be assigned again.
    @Test func `reading continues after expired requests while another partition's ledger waits`() throws {
        let fixture = try RealFixture("expired")
        _ = try fixture.create()
        let (topic, broker) = (fixture.names.requests, try #require(RealClusterTrait.cluster))
        let publish = { _ = try LogDriver.publish(60, to: topic, fixture.properties) }
        let owner = try TransactionalProducer(KafkaProperties(fixture.properties), transactionalID: "expired-other")
        try owner.initTransactions(timeoutMilliseconds: 30_000)
        try owner.begin()
        try owner.produce(
            topic: try #require(fixture.names.outputs[.ledger]),
            partition: 1,
            key: bytes("key"),
            value: bytes("value")
        )
        try owner.flush(timeoutMilliseconds: 30_000)
        try publish()
        try publish()
        let expired = try PartitionEnds(KafkaProperties(fixture.properties))
            .watermarks(of: topic, 0, timeoutMilliseconds: 30_000).high
        try publish()
        var settings = fixture.settings("one")
        // One batch of the log at a time is fetched, so that the second expires before it is.
        settings.properties += [("queued.min.messages", "1"), ("fetch.message.max.bytes", "64")]
        let driver = try LogDriver(.exactlyOnce, settings)
        var first: Int64?
        #expect(
            try driver.steps(BatchLimits(records: 1)) { round in
                first = round.records.first { $0.partition == 0 }?.offset
                return first != nil
            }
        )
        #expect(first == 0)
        let request = #"{"partitions": [{"topic": "\#(topic)", "partition": 0, "offset": \#(expired)}], "version": 1}"#
        let file = broker.folder.appending(path: "expired.json")
        try Data(request.utf8).write(to: file)
        try broker.tool(
            "org.apache.kafka.tools.DeleteRecordsCommand",
            ["--bootstrap-server", broker.bootstrapServers, "--offset-json-file", file.path]
        )
        var offsets: [Int64] = []
        let goesOn = try driver.steps { round in
            offsets += round.records.filter { $0.partition == 0 }.map(\.offset)
            return offsets.last.map { $0 >= expired } ?? false
        }
        #expect(goesOn && offsets.contains(expired), "\(offsets) \(driver.faults) \(driver.changes)")
        #expect(!offsets.contains(expired - 1), "it expired before it was read")
        try owner.commit(timeoutMilliseconds: 30_000)
        try driver.log.close()
    }
}
