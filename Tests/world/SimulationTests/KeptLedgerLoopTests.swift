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

    /// Assigns a partition, takes it back, and assigns it again when the test says so.
    private final class ReturningStreams: RequestSource {
        private var changes: [MemoryMember.Change] = [.assigned([0]), .revoked([0])]
        let memory = MemoryMember()
        var member: (any GroupMember)? { memory }
        var ended = false

        func comeBack() { changes.append(.assigned([0])) }

        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
            var round = PollRound()
            if changes.isEmpty { round.ended = ended } else { round.events = [memory.event(changes.removeFirst())] }
            return round
        }
    }

    @Test(arguments: [(away: 0 as Int64, isKept: true), (away: 1, isKept: false)])
    func `a ledger of a partition that was away for more than a quarter of an hour is read again`(
        away: Int64,
        isKept: Bool
    ) throws {
        let traffic = try Self.traffic.get()
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let (streams, clock) = (ReturningStreams(), MovedClock(1_000))
        let loop = lanes.loop(
            StreamRoles(source: streams, transaction: MemoryTransaction(), hasLedgers: true),
            traffic.settings,
            wallClock: { RequestRecords.now },
            uptime: { clock.milliseconds }
        )
        for _ in 0..<10 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(streams.memory.kept == [[]])
        #expect(loop.keptLedgers == 1)
        clock.milliseconds += KeptLedgers.milliseconds + away
        _ = try loop.tick(waitMilliseconds: 0)
        #expect(loop.keptLedgers == (isKept ? 1 : 0), "the loop forgets it, whatever the group does")
        streams.comeBack()
        for _ in 0..<10 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(streams.memory.kept == [[], isKept ? [0] : []])
    }
}
