import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaKit
import KafkaPorts
import Pipeline
import Settings
import Streams
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

    /// After an abort, librdkafka 2.0.2 takes an answer that still comes, or the client's end, for a bug of its own
    /// and ends the process: `Assertion rk->rk_eos.txn_req_cnt > 0 failed`.
    @Test func `a transaction with an unanswered request is not settled, and the next producer ends it`()
        throws
    {
        let network = try network()
        let fixture = try TransactionFixture("swallowed", partitions: 2, servers: network.bootstrapServers)
        var producer: TransactionClient? = try fixture.producer([("message.timeout.ms", "3000")])
        var transaction = TransactionGuard()
        try producer?.begin()
        transaction.begin(try #require(producer).producer.summary)
        try producer?.produce(["first"], to: fixture.output)
        try producer?.flush(timeoutMilliseconds: 30_000)
        // Both requests stay unanswered: one registers another partition, and a record that may have been written
        // asks for a new epoch, which the abort waits for.
        var faults = [NetworkFault(.swallow, .addPartitionsToTransaction), NetworkFault(.swallowAnswer, .produce)]
        faults[0].transactionalID = "\(fixture.input).id"
        let numbers = faults.map { network.plan($0) }
        try producer?.produce(topic: fixture.output, partition: 0, key: nil, value: bytes("lost"))
        try producer?.produce(topic: fixture.output, partition: 1, key: nil, value: bytes("lost"))
        #expect(throws: KafkaFault.self) { try producer?.flush(timeoutMilliseconds: 20_000) }
        #expect(network.wait { $0.done.isSuperset(of: numbers) })
        do {
            let given = try #require(producer)
            let outstanding = given.producer.outstanding
            let settlement = transaction.settlement(given.producer.summary, outstanding: outstanding, given.unanswered)
            #expect(settlement != .settled)
        }
        producer = nil
        let next = try fixture.producer()
        try next.begin()
        try next.produce(["second"], to: fixture.output)
        try next.commit(limit: 30_000)
        #expect(try fixture.outputs() == ["second"])
    }

    @Test func `clients that connect through the network stay behind it`() throws {
        let network = try network()
        let fixture = try TransactionFixture("stay", servers: network.bootstrapServers)
        let producer = try fixture.producer()
        try producer.begin()
        try producer.produce(["a"], to: fixture.output)
        try producer.commit(limit: 30_000)
        #expect((network.events.requests[.produce] ?? 0) > 0)
        network.set(.blackHole)
        try producer.begin()
        try producer.produce(["b"], to: fixture.output)
        let fault = #expect(throws: KafkaFault.self) { try producer.flush(timeoutMilliseconds: 1_000) }
        #expect(fault?.isRetriable == true)
        network.set(.clear)
        try producer.commit(limit: 30_000)
        #expect(try fixture.outputs() == ["a", "b"])
    }
}
