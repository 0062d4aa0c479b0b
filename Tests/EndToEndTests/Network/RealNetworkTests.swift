import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import KafkaPorts
import Log
import Pipeline
import Settings
import Testing

/// Network faults during transactions, on a real broker.
@Suite(
    .brokerTests,
    .cluster(.behindNetwork),
    .serialized
)
struct RealNetworkTests {
    private func network() throws -> NetworkProxy {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        return try #require(cluster.network)
    }

    @Test(arguments: [true, false])
    func `a held EndTxn is retried inside the call, and after a new init the late one is refused`(
        commits: Bool
    ) throws {
        let network = try network()
        let fixture = try TransactionFixture("held-\(commits)", servers: network.bootstrapServers)
        let before = network.news
        var deed = NetworkDeed(.hold(.byHand), .endTransaction)
        (deed.isCommit, deed.transactionalID) = (commits, "\(fixture.input).id")
        let number = network.plan(deed)
        let producer = try fixture.producer()
        try producer.begin()
        try producer.produce(["first"], to: fixture.output)
        try producer.flush(timeoutMilliseconds: 30_000)
        if commits {
            try producer.commit(timeoutMilliseconds: 30_000)
        } else {
            try producer.abort(timeoutMilliseconds: 30_000)
        }
        let news = network.news
        #expect(news.done.contains(number))
        // The call returned OK although the library asked twice.
        let (asked, answered) = (news.requests[.endTransaction] ?? 0, news.answers[.endTransaction] ?? 0)
        #expect(asked - (before.requests[.endTransaction] ?? 0) == 2)
        #expect(answered - (before.answers[.endTransaction] ?? 0) == 1)
        let next = try fixture.producer()
        try next.begin()
        try next.produce(["second"], to: fixture.output)
        try next.flush(timeoutMilliseconds: 30_000)
        network.deliver(number)
        #expect(network.wait { $0.held.contains { $0.deed == number && $0.answer != nil } })
        let held = try #require(network.news.held.first { $0.deed == number })
        // INVALID_PRODUCER_EPOCH
        #expect(held.metLaterTransaction && held.errorCode == 47, "\(held)")
        #expect(try fixture.outputs() == (commits ? ["first"] : []))
        try next.commit(timeoutMilliseconds: 30_000)
        #expect(try fixture.outputs() == (commits ? ["first", "second"] : ["second"]))
    }

    /// After an abort, librdkafka 2.0.2 takes an answer that still comes, or the client's end, for a bug of its own
    /// and ends the process: `Assertion rk->rk_eos.txn_req_cnt > 0 failed`.
    @Test func `a transaction with an unanswered request is given up without an abort, and the next producer ends it`()
        throws
    {
        let network = try network()
        let fixture = try TransactionFixture("swallowed", partitions: 2, servers: network.bootstrapServers)
        var producer: TransactionalProducer? = try fixture.producer([("message.timeout.ms", "3000")])
        try producer?.begin()
        try producer?.produce(["first"], to: fixture.output)
        try producer?.flush(timeoutMilliseconds: 30_000)
        // Both requests stay unanswered: one registers another partition, and a record that may have been written
        // asks for a new epoch, which the abort waits for.
        var deeds = [NetworkDeed(.swallow, .addPartitionsToTransaction), NetworkDeed(.swallowAnswer, .produce)]
        deeds[0].transactionalID = "\(fixture.input).id"
        let numbers = deeds.map { network.plan($0) }
        try producer?.produce(topic: fixture.output, partition: 0, key: nil, value: bytes("lost"))
        try producer?.produce(topic: fixture.output, partition: 1, key: nil, value: bytes("lost"))
        #expect(throws: KafkaFault.self) { try producer?.flush(timeoutMilliseconds: 20_000) }
        #expect(network.wait { $0.done.isSuperset(of: numbers) })
        let fault = #expect(throws: KafkaFault.self) { try producer?.abort(timeoutMilliseconds: 10_000) }
        #expect(fault?.isFatal == true)
        producer?.purge()
        producer = nil
        let next = try fixture.producer()
        try next.begin()
        try next.produce(["second"], to: fixture.output)
        try next.commit(timeoutMilliseconds: 30_000)
        #expect(try fixture.outputs() == ["second"])
    }

    @Test func `clients that connect through the network stay behind it`() throws {
        let network = try network()
        let fixture = try TransactionFixture("stay", servers: network.bootstrapServers)
        let producer = try fixture.producer()
        try producer.begin()
        try producer.produce(["a"], to: fixture.output)
        try producer.commit(timeoutMilliseconds: 30_000)
        #expect((network.news.requests[.produce] ?? 0) > 0)
        network.set(.blackHole)
        try producer.begin()
        try producer.produce(["b"], to: fixture.output)
        let fault = #expect(throws: KafkaFault.self) { try producer.flush(timeoutMilliseconds: 1_000) }
        #expect(fault?.isRetriable == true)
        network.set(.clear)
        try producer.commit(timeoutMilliseconds: 30_000)
        #expect(try fixture.outputs() == ["a", "b"])
    }

    /// The consumer that takes the fenced one's place must not be assigned anything before the loop has released its partitions.
    @Test func `a member fenced by another of its name while its commit waits gets its partitions again`() throws {
        let network = try network()
        let fixture = try RealFixture("namesake", servers: network.bootstrapServers)
        _ = try fixture.create()
        #expect(try LogDriver.publish(30, to: fixture.names.requests, fixture.properties).isComplete)
        let settings = fixture.settings("one", .static)
        let driver = try LogDriver(.exactlyOnce, settings)
        let batch = try driver.records(30)
        let namesake = try LogDriver(.atLeastOnce, settings)
        #expect(try namesake.steps { _ in !namesake.changes.isEmpty })
        try namesake.log.close()
        network.plan(NetworkDeed(.delayAnswer(.seconds(8)), .produce))
        #expect(throws: KafkaFault.self) { try driver.commit(batch, batch.outputs(.results, .ledger)) }
        try driver.abort()
        let again = try driver.records(30)
        #expect(again.places == batch.places)
        #expect(driver.changes.contains { if case .lost = $0 { true } else { false } }, "\(driver.changes)")
        try driver.commit(again, again.outputs(.results, .ledger))
        #expect(try fixture.values(of: .results).count == 30)
        try driver.log.close()
    }
}
