import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Log
import Member
import Settings
import Testing

extension RealCluster {
    /// Slows a client's producers down; other clients are as quick as before.
    fileprivate func setQuota(_ bytesPerSecond: Int, of client: String) throws {
        let change = ["--alter", "--entity-type", "clients", "--entity-name", client]
        let quota = ["--add-config", "producer_byte_rate=\(bytesPerSecond)"]
        try tool("kafka.admin.ConfigCommand", ["--bootstrap-server", bootstrapServers] + change + quota)
    }
}

/// A broker with a quota answers late, and reads nothing more from the connection until it is made up for.
@Suite(
    .brokerTests,
    .cluster(),
    .serialized
)
struct QuotaTests {
    private static let (quota, outputBytes, batchRecords) = (80_000, 1_000, 250)
    /// A client may be ahead by eleven seconds' bytes: the last four of these take about three seconds each.
    private static let batches = 7

    /// Commits under a quota. - Returns: how many went well, up to the first fault.
    private func commits(
        _ prefix: String,
        transactionMilliseconds: Int,
        batches: Int = Self.batches,
        _ change: (inout BrokerSettings) -> Void = { _ in }
    ) throws -> Int {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let fixture = try RealFixture(prefix, servers: cluster.bootstrapServers)
        _ = try fixture.create()
        #expect(try LogDriver.publish(3_000, to: fixture.names.requests, fixture.properties).isComplete)
        try cluster.setQuota(Self.quota, of: prefix)
        var settings = fixture.settings("one")
        settings.properties += [("client.id", prefix), ("transaction.timeout.ms", "\(transactionMilliseconds)")]
        change(&settings)
        let driver = try LogDriver(.exactlyOnce, settings)
        var done = 0
        for _ in 0..<batches {
            let limits = BatchLimits(records: Self.batchRecords)
            let batch = try driver.records(Self.batchRecords, limits: limits)
            do {
                try driver.commit(batch, outputs(of: batch))
                done += 1
            } catch let fault as KafkaFault where fault.isRecoverable {
                try driver.abort()
                break
            }
        }
        try driver.log.close()
        return done
    }

    private func outputs(of batch: LogBatch) -> [OutboundRecord] {
        batch.outputs(.results).map { output in
            var output = output
            output.value = [UInt8](repeating: 7, count: Self.outputBytes)
            return output
        }
    }

    @Test func `commits under a quota are slow, but none is lost`() throws {
        // Time enough for a machine that does something else too.
        #expect(try commits("quota", transactionMilliseconds: 30_000) == Self.batches)
    }

    #if DEBUG
        @Test func `offsets sent before the outputs have arrived lose the transaction`() throws {
            // A slow machine reaches the quota later. The run stops at the first loss.
            let batches = 12
            let done = try commits("quota-planted", transactionMilliseconds: 10_000, batches: batches) {
                $0.sabotage = .offsetsBeforeFlush
            }
            #expect(done < batches)
        }
    #endif
}
