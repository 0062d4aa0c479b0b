import BrokerKit
import ChaosKit
import Foundation
import Testing
internal import Threads

private let environment = ProcessInfo.processInfo.environment

/// Workers and refreshers are killed while devices attest, refreshers and the broker stand still, and Apple's double has
/// outages; of three brokers one is killed or restarted.
@Suite(
    "The fraud metric under faults",
    .brokerTests,
    .cluster(ClusterSettings(brokers: environment["REFRESH_BROKERS"].flatMap { Int($0) } ?? 1), isLong: true),
    .serialized
)
struct RefreshChaosTests {
    @Test func `no receipt is lost, what Apple answered counts once, and what was forgotten is gone`() throws {
        let seed = environment["REFRESH_SEED"].flatMap { UInt64($0) } ?? 1
        let faults = environment["REFRESH_FAULTS"].flatMap { Int($0) } ?? 8
        let lines = Locked<[String]>([])
        let cluster = try #require(RealClusterTrait.cluster)
        let run = try RefreshRun(cluster, faults: faults, seed: seed) { line in lines.withLock { $0.append(line) } }
        let (findings, evidence) = try run.run()
        if !findings.isEmpty || faults > 8 { print(lines.withLock { $0.joined(separator: "\n") }) }
        #expect(findings == [])
        // It was a run: metrics moved, answers came too late, and answers had faults.
        #expect(evidence.events.count > evidence.due.count / 2)
        #expect(evidence.calls.contains { $0.answer == nil })
        #expect(evidence.outcomes["receipt:superseded"] != nil && evidence.outcomes["unknown-key"] != nil)
    }
}
