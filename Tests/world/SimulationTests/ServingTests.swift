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
    enum Wait: CaseIterable {
        /// As many batches as may be are with lanes that do not come back.
        case lanesFull
        case breakerOpen
        /// A ledger is being read, and lanes do not give its records back.
        case restoring
    }

    /// Assigns the partitions and gives so many records, each for a batch of its own: a loop that polls on shows.
    private static func source(_ memory: MemoryMember, of partitions: [Int32], records: Int) -> PolledSource {
        PolledSource(memory) { [memory] round, number, _ in
            if number == 0 { round.events = [memory.event(.assigned(partitions))] }
            if (1...records).contains(number) { round.records = [.record(RequestRecords.junk(at: Int64(number - 1)))] }
        }
    }

    /// A loop that waits when the group wants its partition back, which only ``MemoryMember/serve()`` says.
    private struct Revoked {
        let transaction = MemoryTransaction()
        let memory = MemoryMember()
        let clock = MovedClock()
        let rig: TrafficLoop

        init(_ wait: Wait) throws {
            if wait == .restoring {
                let record = StoredRecords([StoredRecord(partition: 0, key: [4], value: nil)])
                memory.reading = { _ in [.ledger(record, left: 0)] }
            }
            let source = ServingTests.source(memory, of: [0], records: 3)
            let clock = clock
            rig = try TrafficLoop(
                StreamRoles(source: source, transaction: transaction, hasLedgers: true),
                wallClock: { clock.now }
            )
            if wait == .breakerOpen { rig.loop.breaker.add(records: 100, internal: 100, at: clock.now) }
            // No job of the lanes is run: what they have stays with them.
            try rig.tick(50)
            #expect(memory.releases == 0)
            memory.change = .revoked([0])
            try rig.tick(5)
        }
    }

    @Test(arguments: Wait.allCases)
    func `revoked partitions are released without a commit while lanes hang, the breaker is open or ledgers are read`(
        wait: Wait
    ) throws {
        let world = try Revoked(wait)
        world.clock.milliseconds += 1_999
        try world.rig.tick()
        if wait == .lanesFull { #expect(world.memory.releases == 0, "the oldest batch has two seconds") }
        world.clock.milliseconds += 1
        try world.rig.tick(5)
        #expect(world.memory.releases == 1 && world.transaction.commits.isEmpty)
        // Results that lanes bring back later are not committed.
        while wait == .lanesFull, world.rig.lanes.finishOne() { try world.rig.tick() }
        #expect(world.transaction.commits.isEmpty)
    }

    @Test func `the oldest batch is committed before its partition is released, newer ones are not`() throws {
        let world = try Revoked(.lanesFull)
        #expect(world.memory.releases == 0 && world.transaction.commits.isEmpty)
        while world.memory.releases == 0 {
            #expect(world.rig.lanes.finishOne() || !world.rig.loop.isIdle)
            try world.rig.tick()
        }
        #expect(world.transaction.commits == [[PartitionPosition(partition: 0, offset: 1)]])
    }

    @Test func `a partition with a complete ledger is judged while another's is still being read`() throws {
        let (transaction, memory) = (MemoryTransaction(), MemoryMember())
        var (isTold, isWhole) = (false, false)
        memory.reading = { _ in
            defer { isTold = true }
            return (isTold ? [] : [.ledgerGiven(0)]) + (isWhole ? [.ledgerGiven(1)] : [])
        }
        let source = Self.source(memory, of: [0, 1], records: 1)
        let rig = try TrafficLoop(
            StreamRoles(source: source, transaction: transaction, hasLedgers: true),
            wallClock: { RequestRecords.now }
        )
        for _ in 0..<50 {
            try rig.tick()
            _ = rig.lanes.finishOne()
        }
        #expect(memory.starts == [0] && rig.loop.restoring != nil)
        #expect(transaction.commits == [[PartitionPosition(partition: 0, offset: 1)]])
        isWhole = true
        try rig.tick(5)
        #expect(memory.starts == [0, 1] && rig.loop.restoring == nil)
    }
}
