import AppAttest
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Pipeline

/// The loop asks its streams for changes of the group whatever else it waits for, and partitions do not wait for each
/// other.
@Suite("Serving the group")
struct ServingTests {
    private static let traffic = Result { try FleetTraffic(.imitated) }

    enum Wait: CaseIterable {
        /// As many batches as may be are with lanes that do not come back.
        case lanesFull
        case breakerOpen
        /// A ledger is being read, and lanes do not give its records back.
        case restoring
    }

    /// Gives records as long as it is polled; the group wants the partition back, which only ``MemoryMember/serve()`` says.
    private final class QuietStreams {
        let (transaction, memory) = (MemoryTransaction(), MemoryMember())

        init(_ wait: Wait) {
            guard wait == .restoring else { return }
            let record = StoredRecords([StoredRecord(partition: 0, key: [4], value: nil)])
            memory.reading = { _ in [.ledger(record, left: 0)] }
        }

        var roles: StreamRoles {
            let source = PolledSource(memory) { [memory] round, number, _ in
                switch number {
                case 0: round.events = [memory.event(.assigned([0]))]
                // At most three batches, so that a loop that polls on shows.
                case 1...3: round.records = [.record(RequestRecords.junk(at: Int64(number - 1)))]
                default: break
                }
            }
            return StreamRoles(source: source, transaction: transaction, hasLedgers: true)
        }
    }

    private static func loop(_ streams: StreamRoles, _ clock: MovedClock) throws -> (BatchLoop, SimulatedLanes) {
        let traffic = try traffic.get()
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        return (lanes.loop(streams, traffic.settings, wallClock: { clock.now }), lanes)
    }

    @Test(
        arguments: Wait.allCases
    )
    func `revoked partitions are released while lanes hang, the breaker is open or ledgers are read`(wait: Wait) throws
    {
        let (streams, clock) = (QuietStreams(wait), MovedClock())
        let (loop, lanes) = try Self.loop(streams.roles, clock)
        if wait == .breakerOpen {
            loop.breaker.add(records: 100, internal: 100, at: clock.now)
        }
        // No job of the lanes is run: what they have stays with them.
        _ = lanes
        for _ in 0..<50 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(streams.memory.releases == 0)
        streams.memory.change = .revoked([0])
        for _ in 0..<5 { _ = try loop.tick(waitMilliseconds: 0) }
        // The oldest batch has two seconds.
        clock.milliseconds += 2_001
        for _ in 0..<5 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(streams.memory.releases == 1 && streams.transaction.commits.isEmpty)
    }

    /// Two partitions: the ledger of one is there, that of the other does not come to its end.
    private final class HalfRestoredStreams {
        let (transaction, memory) = (MemoryTransaction(), MemoryMember())
        var isWhole = false

        init() {
            var isTold = false
            memory.reading = { [unowned self] _ in
                defer { isTold = true }
                return (isTold ? [] : [.ledgerGiven(0)]) + (isWhole ? [.ledgerGiven(1)] : [])
            }
        }

        var roles: StreamRoles {
            let source = PolledSource(memory) { [memory] round, number, _ in
                if number == 0 { round.events = [memory.event(.assigned([0, 1]))] }
                if number == 1 { round.records = [.record(RequestRecords.junk(at: 0))] }
            }
            return StreamRoles(source: source, transaction: transaction, hasLedgers: true)
        }
    }

    @Test func `a partition with a complete ledger is judged while another's is still being read`() throws {
        let streams = HalfRestoredStreams()
        let (loop, lanes) = try Self.loop(streams.roles, MovedClock())
        for _ in 0..<50 {
            _ = try loop.tick(waitMilliseconds: 0)
            _ = lanes.finishOne()
        }
        #expect(streams.memory.starts == [0] && loop.restoring != nil)
        #expect(streams.transaction.commits == [[PartitionPosition(partition: 0, offset: 1)]])
        streams.isWhole = true
        for _ in 0..<5 { _ = try loop.tick(waitMilliseconds: 0) }
        #expect(streams.memory.starts == [0, 1] && loop.restoring == nil)
    }
}
