import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A partition that goes to another worker and comes back.
@Suite("Kept ledgers in the loop")
struct KeptLedgerLoopTests {
    private static let traffic = Result { try FleetTraffic(.imitated) }

    @Test(arguments: [(away: 0 as Int64, isKept: true), (away: 1, isKept: false)])
    func `a ledger of a partition that was away for more than a quarter of an hour is read again`(
        away: Int64,
        isKept: Bool
    ) throws {
        let traffic = try Self.traffic.get()
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let (memory, clock) = (MemoryMember(), MovedClock(1_000))
        var changes: [MemoryMember.Change] = [.assigned([0]), .revoked([0])]
        let source = PolledSource(memory) { [memory] round, _, _ in
            if !changes.isEmpty { round.events = [memory.event(changes.removeFirst())] }
        }
        let loop = lanes.loop(
            StreamRoles(source: source, transaction: MemoryTransaction(), hasLedgers: true),
            traffic.settings,
            wallClock: { RequestRecords.now },
            uptime: { clock.milliseconds }
        )
        for _ in 0..<10 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(memory.kept == [[]])
        #expect(loop.keptLedgers == 1)
        clock.milliseconds += KeptLedgers.milliseconds + away
        _ = try loop.tick(waitMilliseconds: 0)
        #expect(loop.keptLedgers == (isKept ? 1 : 0), "the loop forgets it, whatever the group does")
        changes.append(.assigned([0]))
        for _ in 0..<10 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(memory.kept == [[], isKept ? [0] : []])
    }
}
