import BrokerKit
import ChaosKit
import Foundation
import Testing
internal import Threads

/// One broker, or as many as `REFRESH_BROKERS` says.
private let brokers = ClusterSettings(
    brokers: ProcessInfo.processInfo.environment["REFRESH_BROKERS"].flatMap { Int($0) } ?? 1
)

/// Workers, refreshers and Apple's double are killed while devices attest; a broker stands still, and of three one is
/// killed or restarted.
@Suite(
    "The fraud metric under faults",
    .brokerTests,
    .cluster(brokers, isLong: true),
    .serialized
)
struct RefreshChaosTests {
    /// A few, or as many as `REFRESH_FAULTS` says.
    private static let faults = ProcessInfo.processInfo.environment["REFRESH_FAULTS"].flatMap { Int($0) }

    private static func run(_ name: String, _ settings: RefreshRun.Settings) throws -> RefreshRun.Report {
        let lines = Locked<[String]>([])
        let cluster = try #require(RealClusterTrait.cluster)
        let report = try RefreshRun(cluster, name, settings) { line in lines.withLock { $0.append(line) } }.run()
        if !report.findings.isEmpty || faults != nil { print(lines.withLock { $0.joined(separator: "\n") }) }
        return report
    }

    @Test func `what Apple answered and was acknowledged counts once, and what was forgotten is gone`() throws {
        var settings = RefreshRun.Settings()
        settings.seed = ProcessInfo.processInfo.environment["REFRESH_SEED"].flatMap { UInt64($0) } ?? 1
        settings.faults = Self.faults ?? settings.faults
        settings.devices = 15 * settings.faults
        let report = try Self.run("refreshchaos", settings)
        #expect(report.findings == [])
        // It was a run: metrics moved, answers came too late, and answers had faults.
        #expect(report.evidence.events.count > settings.devices / 2)
        #expect(report.evidence.calls.contains { $0.answeredReceipt == nil })
        let reasons = report.evidence.steps.values.flatMap { $0.compactMap(\.reason) }
        #expect(reasons.contains("receipt:superseded") && reasons.contains("unknown-key"))
    }
}
