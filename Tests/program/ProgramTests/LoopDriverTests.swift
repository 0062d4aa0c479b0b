import AppAttest
import AppCheck
import Crypto
import Pipeline
import Settings
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Run

extension LoopDriver {
    /// A loop that this driver can run, on a rig's lanes.
    func loop(_ source: any RequestSource, _ rig: LoopRig) throws -> BatchLoop {
        BatchLoop(
            streams: StreamRoles(source: source, transaction: MemoryTransaction()),
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            lanes: rig.lanes,
            post: post,
            wallClock: { nil }
        )
    }
}

@Suite("The loop's driver")
struct LoopDriverTests {
    /// It never has a record and never ends.
    private static func loop(_ driver: LoopDriver) throws -> BatchLoop {
        try driver.loop(PolledSource { _, _, _ in }, LoopRig.lab(lanes: 1))
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
