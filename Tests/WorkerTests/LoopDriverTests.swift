import AppAttest
import AppCheck
import Crypto
import Log
import Pipeline
import TestKit
import Testing

@testable import Worker

@Suite("The loop's driver")
struct LoopDriverTests {
    /// Never has a record and never ends.
    private final class SilentLog: RecordLog {
        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound { PollRound() }
        func begin() {}
        func append(_ records: [OutboundRecord]) {}
        func commit(_ positions: [PartitionPosition], of generation: Generation) {}
        var hasLedger: Bool { false }
        var isAtomic: Bool { true }
        func beginRestore(_ partitions: [Int32], kept: Set<Int32>) {}
        func restore(_ records: Int, waitMilliseconds: Int) -> RestoreRound {
            var round = RestoreRound()
            round.isComplete = true
            return round
        }
        func abort() {}
        func releaseRevoked() {}
        func close() {}
    }

    private static func loop(_ driver: LoopDriver) throws -> BatchLoop {
        let anchors = try TrustAnchors(attestationPEM: [], receiptPEM: [])
        return BatchLoop(
            log: SilentLog(),
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            lanes: LaneFactory(lanes: 1, anchors: anchors, limits: ObjectLimits()).lanes,
            post: driver.post,
            wallClock: { nil }
        )
    }

    @Test("a stop before the loop runs takes effect", .timeLimit(.minutes(20)))
    func stopsBefore() throws {
        let driver = LoopDriver(idleWaitMilliseconds: 1)
        driver.stop()
        try driver.run(Self.loop(driver)) { _, _ in }
    }

    @Test("a stop ends an idle loop", .timeLimit(.minutes(20)))
    func stopsIdle() throws {
        let driver = LoopDriver(idleWaitMilliseconds: 1)
        var reports = 0
        try driver.run(Self.loop(driver)) { _, _ in
            reports += 1
            if reports == 1 { driver.stop() }
        }
        #expect(reports >= 1)
    }
}
