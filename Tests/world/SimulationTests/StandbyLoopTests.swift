import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Ledgers of others in the loop.
@Suite("A standby's ledgers in the loop")
struct StandbyLoopTests {
    private static let good: StoredRecord = {
        let (key, value) = LedgerCodec.encode(
            .mark(PartitionMark(appliedOffset: 4, group: Array("group".utf8), identity: [7]))
        )
        return StoredRecord(partition: 1, key: key, value: value)
    }()
    /// A key's record that no version writes.
    private static let bad = StoredRecord(partition: 1, key: [1] + [UInt8](repeating: 7, count: 32), value: [0xFF])

    private final class Rig {
        let memory = MemoryMember()
        let clock = MovedClock(1_000)
        let loop: TrafficLoop
        private(set) var known: [Set<Int32>] = []
        var events: [StandbyEvent] = []

        init() throws {
            var changes: [MemoryMember.Change] = [.assigned([0])]
            let source = PolledSource(memory) { [memory] round, _, _ in
                if !changes.isEmpty { round.events = [memory.event(changes.removeFirst())] }
            }
            loop = try TrafficLoop(
                StreamRoles(source: source, transaction: MemoryTransaction(), hasLedgers: true),
                wallClock: { RequestRecords.now },
                uptime: { [clock] in clock.milliseconds }
            )
            memory.following = { [unowned self] kept, reading in
                known.append(kept.union(reading))
                defer { events = [] }
                return events
            }
            try loop.tick(10)
        }

        /// What the loop has after these events.
        func read(_ events: StandbyEvent...) throws -> Set<Int32> {
            self.events = events
            clock.milliseconds += 100
            try loop.tick(2)
            clock.milliseconds += 100
            try loop.tick(2)
            return known.last ?? []
        }
    }

    @Test func `one that is whole is kept, as long as it is as the topic is`() throws {
        let rig = try Rig()
        #expect(try rig.read(.emptied(1), .records(StoredRecords([Self.good]))) == [1])
        #expect(rig.loop.loop.keptLedgers == 0)
        #expect(try rig.read(.records(StoredRecords([Self.good])), .whole(1)) == [1])
        #expect(rig.loop.loop.keptLedgers == 1)
        rig.clock.milliseconds += KeptLedgers.milliseconds - 1_000
        #expect(try rig.read(.current([1])) == [1])
        rig.clock.milliseconds += KeptLedgers.milliseconds - 1_000
        #expect(try rig.read(.records(StoredRecords([Self.good]))) == [1])
        rig.clock.milliseconds += 2_000
        #expect(try rig.read() == [], "what is read does not make it younger")
    }

    @Test func `an emptied one is not kept, nor one with records that cannot be read`() throws {
        let rig = try Rig()
        _ = try rig.read(.emptied(1), .whole(1))
        #expect(rig.loop.loop.keptLedgers == 1)
        #expect(try rig.read(.emptied(1)) == [1] && rig.loop.loop.keptLedgers == 0)
        _ = try rig.read(.records(StoredRecords([Self.bad])), .whole(1))
        #expect(rig.loop.loop.keptLedgers == 0)
        _ = try rig.read(.emptied(1), .whole(1))
        #expect(rig.loop.loop.keptLedgers == 1)
        #expect(try rig.read(.records(StoredRecords([Self.bad]))) == [1], "it is not read again and again")
        #expect(rig.loop.loop.keptLedgers == 0)
    }

    @Test func `the loop rests between two reads`() throws {
        let rig = try Rig()
        let before = rig.known.count
        try rig.loop.tick(20)
        #expect(rig.known.count <= before + 1)
        rig.clock.milliseconds += 50
        try rig.loop.tick(20)
        #expect(rig.known.count <= before + 2 && rig.known.count > before)
    }
}
