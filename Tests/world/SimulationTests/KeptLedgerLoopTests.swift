import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A partition that goes to another worker and comes back.
@Suite("Kept ledgers in the loop")
struct KeptLedgerLoopTests {
    @Test(arguments: [(false, 0, true), (false, 1, false), (true, 0, false)] as [(Bool, Int64, Bool)])
    func `a ledger of a partition that was lost, or away for more than a quarter of an hour, is read again`(
        isLost: Bool,
        away: Int64,
        isKept: Bool
    ) throws {
        let (memory, clock) = (MemoryMember(), MovedClock(1_000))
        var changes: [MemoryMember.Change] = [.assigned([0]), isLost ? .lost([0]) : .revoked([0])]
        let source = PolledSource(memory) { [memory] round, _, _ in
            if !changes.isEmpty { round.events = [memory.event(changes.removeFirst())] }
        }
        let rig = try TrafficLoop(
            StreamRoles(source: source, transaction: MemoryTransaction(), hasLedgers: true),
            wallClock: { RequestRecords.now },
            uptime: { clock.milliseconds }
        )
        try rig.tick(10)
        #expect(memory.kept == [[]])
        #expect(rig.loop.keptLedgers == (isLost ? 0 : 1))
        clock.milliseconds += KeptLedgers.milliseconds + away
        try rig.tick()
        #expect(rig.loop.keptLedgers == (isKept ? 1 : 0), "the loop forgets it, whatever the group does")
        changes.append(.assigned([0]))
        try rig.tick(10)
        #expect(memory.kept == [[], isKept ? [0] : []])
    }
}
