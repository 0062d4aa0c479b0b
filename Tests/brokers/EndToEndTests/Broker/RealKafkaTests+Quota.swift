import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Member
import Settings
import Streams
import Testing

extension RealKafkaTests {
    private static let (quota, outputBytes, batchRecords) = (80_000, 1_000, 250)
    /// A client may be ahead by eleven seconds' bytes: the last of these take about three seconds each.
    private static let batches = 5

    /// A broker with a quota answers late, and reads nothing more from the connection until it is made up for.
    @Test func `commits under a quota are slow, but none is lost`() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let fixture = try RealFixture("quota")
        _ = try fixture.create()
        #expect(try MemberDriver.publish(1_500, to: fixture.names.requests, fixture.properties).isComplete)
        try cluster.configure("clients", "quota", "--add-config", "producer_byte_rate=\(Self.quota)")
        var settings = fixture.settings("one")
        // Time enough for a machine that does something else too.
        settings.properties += [("client.id", "quota"), ("transaction.timeout.ms", "30000")]
        let driver = try MemberDriver(.exactlyOnce, settings)
        for _ in 0..<Self.batches {
            let batch = try driver.records(Self.batchRecords, limits: BatchLimits(records: Self.batchRecords))
            try driver.commit(batch, outputs(of: batch))
        }
        try driver.member.close()
        // The brokers said so, under the name that they have elsewhere.
        let throttled = ClientThrottles.milliseconds[cluster.bootstrapServers] ?? 0
        #expect(throttled > 1_000, "\(ClientThrottles.milliseconds)")
    }

    private func outputs(of batch: MemberBatch) -> [OutboundRecord] {
        batch.outputs(.results).map { output in
            var output = output
            output.value = [UInt8](repeating: 7, count: Self.outputBytes)
            return output
        }
    }
}
