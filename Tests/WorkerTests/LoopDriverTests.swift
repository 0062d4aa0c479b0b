import AppAttest
import AppCheck
import Crypto
import Log
import Pipeline
import Settings
import SimulationKit
import TestKit
import Testing

@testable import Worker

@Suite("The loop's driver")
struct LoopDriverTests {
    /// Never has a record and never ends.
    private final class SilentSource: RequestSource {
        let member: (any GroupMember)? = nil
        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound { PollRound() }
    }

    private static func loop(_ driver: LoopDriver) throws -> BatchLoop {
        let rig = try LoopRig.lab(lanes: 1)
        return BatchLoop(
            log: LogRoles(source: SilentSource(), unit: MemoryUnit()),
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            lanes: rig.lanes,
            post: driver.post,
            wallClock: { nil }
        )
    }

    @Test func `a stop before the loop runs takes effect`() throws {
        let driver = LoopDriver(idleWaitMilliseconds: 1)
        driver.stop()
        try driver.run(Self.loop(driver)) { _, _ in }
    }

    @Test func `a stop ends an idle loop`() throws {
        let driver = LoopDriver(idleWaitMilliseconds: 1)
        var reports = 0
        try driver.run(Self.loop(driver)) { _, _ in
            reports += 1
            if reports == 1 { driver.stop() }
        }
        #expect(reports >= 1)
    }
}
