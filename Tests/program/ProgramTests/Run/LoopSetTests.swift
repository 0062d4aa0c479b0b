import Broker
import Pipeline
import Settings
import SimulationKit
import Streams
import TestKit
import Testing
internal import Threads

@testable import Crypto
@testable import Run

@Suite("The loops of one process")
struct LoopSetTests {
    private struct Broken: Error {}

    /// Returns `count` records, then throws if `breaks` is set; never ends.
    private static func source(_ partition: Int32, count: Int, breaks: Bool = false) -> PolledSource {
        PolledSource { round, number, _ in
            if breaks, number >= count { throw Broken() }
            guard number < count else { return }
            let record = RequestRecords.record([1], key: nil, partition: partition, offset: Int64(number))
            round.records = [.record(record)]
        }
    }

    private static func set(_ sources: [PolledSource], _ closed: Locked<Int> = Locked(0)) throws -> LoopSet {
        let rig = try LoopRig.lab(lanes: 2)
        return LoopSet(
            try sources.map { source in
                let driver = LoopDriver(idleWaitMilliseconds: 1)
                let loop = try driver.loop(source, rig)
                return LoopSet.Member(driver: driver, loop: loop) { closed.withLock { $0 += 1 } }
            }
        )
    }

    @Test(arguments: [1, 2, 5])
    func `a stop ends all, and the counts are sums`(count: Int) throws {
        let closed = Locked(0)
        let set = try Self.set((0..<count).map { Self.source(Int32($0), count: 20) }, closed)
        var last = 0
        try set.run(stopping: { Issue.record("no loop failed") }) { tally, _ in
            last = tally.requests
            if last == 20 * count { set.stop() }
        }
        #expect(last == 20 * count)
        #expect(set.tally.requests == 20 * count && set.tally.deadLettersTotal == 20 * count)
        #expect(!set.endedWithoutCommit)
        try set.close()
        #expect(closed.withLock { $0 } == count)
    }

    @Test func `a stop before the loop runs takes effect`() throws {
        let driver = LoopDriver(idleWaitMilliseconds: 1)
        driver.stop()
        try driver.run(driver.loop(Self.source(0, count: 0), LoopRig.lab(lanes: 1))) { _, _ in }
    }

    @Test func `the lanes say when their engine was stopped`() throws {
        let rig = try LoopRig.lab(lanes: 2) { _ in }
        #expect(!rig.lanes.isEngineStopped)
        let digest = SHA256.hash([1])
        let key = P256PublicKey(uncheckedX: digest, y: digest)
        let signature = P256Signature(r: digest, s: digest)
        rig.watch.stop(.p256(key: key, digest: digest, signature: signature), answered: true)
        #expect(rig.lanes.isEngineStopped)
    }

    @Test func `a loop's fault stops the others in order, and is thrown`() throws {
        let set = try Self.set([
            Self.source(0, count: 7), Self.source(1, count: 5, breaks: true), Self.source(2, count: 3),
        ])
        var stops = 0
        #expect(throws: Broken.self) { try set.run(stopping: { stops += 1 }) { _, _ in } }
        #expect(stops == 1)
        // The broken loop's last batches may be uncommitted; nothing of the others is.
        #expect(set.loops[0].tally.requests <= 7 && set.loops[2].tally.requests <= 3)
        #expect(set.loops.allSatisfy { !$0.endedWithoutCommit })
    }

    @Test func `new settings are taken by every loop`() throws {
        let set = try Self.set((0..<3).map { Self.source($0, count: 5) })
        let settings = PipelineSettings(registry: try RequestRecords.registry())
        let answers = Locked<[MissingSealingKeys?]>([])
        var isAsked = false
        try set.run(stopping: {}) { tally, _ in
            if !isAsked { set.replace(settings) { missing in answers.withLock { $0.append(missing) } } }
            isAsked = true
            if answers.withLock({ !$0.isEmpty }), tally.requests == 15 { set.stop() }
        }
        #expect(answers.withLock { $0 } == [nil])
    }

    @Test(arguments: [(0, 1, 1), (0, 8, 1), (0, 15, 1), (0, 16, 2), (0, 64, 8), (1, 64, 1), (3, 2, 3)])
    func `as many as configured, or one for eight cores`(configured: Int, cores: Int, expected: Int) {
        #expect(LoopCount.of(configured, cores: cores) == expected)
    }

    @Test func `one loop keeps the instance's name, several have it with a number`() throws {
        let settings = BrokerSettings(
            properties: [("group.id", "g")],
            topics: .standard,
            instanceName: "host",
            membership: .static
        )
        #expect(try settings.members(1).map { try $0.stableID() } == ["g-host"])
        #expect(try settings.members(3).map { try $0.stableID() } == ["g-host-0", "g-host-1", "g-host-2"])
    }
}
