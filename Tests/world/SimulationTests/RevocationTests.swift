import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// The group waits for a member that has to give partitions back: it has two seconds to finish the oldest batch.
@Suite("Revocations")
struct RevocationTests {
    private static let traffic = Result { try FleetTraffic(.imitated) }

    /// Assigns a partition, gives three batches of one record each, then takes the partition back.
    private final class RevokingStreams {
        let (transaction, memory) = (MemoryTransaction(), MemoryMember())
        var isReleased: Bool { memory.releases > 0 }

        var roles: StreamRoles {
            let source = PolledSource(memory) { [memory] round, number, _ in
                switch number {
                case 0: round.events = [memory.event(.assigned([0]))]
                case 1...3: round.records = [.record(RequestRecords.junk(at: Int64(number - 1)))]
                case 4: round.events = [.revoked([0])]
                default: round.ended = true
                }
            }
            return StreamRoles(source: source, transaction: transaction, hasLedgers: true)
        }
    }

    private static func revoked(
        _ streams: RevokingStreams,
        _ clock: MovedClock
    ) throws -> (loop: BatchLoop, lanes: SimulatedLanes) {
        let traffic = try traffic.get()
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        var options = BatchLoop.Options()
        options.batchesInFlight = 4
        let loop = lanes.loop(streams.roles, traffic.settings, options, wallClock: { clock.now })
        // No job of the lanes is run: the batches stay where they are.
        for _ in 0..<50 { _ = try loop.tick(waitMilliseconds: 0) }
        return (loop, lanes)
    }

    @Test func `the oldest batch is committed before its partition is released, newer ones are not`() throws {
        let (streams, clock) = (RevokingStreams(), MovedClock())
        let (loop, lanes) = try Self.revoked(streams, clock)
        #expect(!streams.isReleased && streams.transaction.commits.isEmpty)
        while !streams.isReleased {
            #expect(lanes.finishOne() || !loop.isIdle || streams.isReleased)
            _ = try loop.tick(waitMilliseconds: 0)
        }
        #expect(streams.transaction.commits == [[PartitionPosition(partition: 0, offset: 1)]])
    }

    @Test func `a batch that takes too long is abandoned, and its partition is released without a commit`() throws {
        let (streams, clock) = (RevokingStreams(), MovedClock())
        let (loop, lanes) = try Self.revoked(streams, clock)
        clock.milliseconds += 1_999
        _ = try loop.tick(waitMilliseconds: 0)
        #expect(!streams.isReleased)
        clock.milliseconds += 1
        for _ in 0..<3 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(streams.isReleased && streams.transaction.commits.isEmpty)
        // Results that lanes bring back later are not committed.
        while lanes.finishOne() { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(streams.transaction.commits.isEmpty)
    }
}
