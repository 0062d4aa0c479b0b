import KafkaPorts
import Pipeline
import Streams
import Testing

@testable import Member

/// The ledgers of others that a member follows.
@Suite("A standby")
struct StandbyTests {
    private static func block(_ place: Int, of members: Int, _ partitions: Int) -> Set<Int32> {
        let shares = (0..<members).map { partitions / members + ($0 < partitions % members ? 1 : 0) }
        let start = shares.prefix(place).reduce(0, +)
        return Set((start..<start + shares[place]).map(Int32.init))
    }

    @Test(arguments: 1...4) func `it follows all that becomes its own, whichever machine is gone`(loops: Int) {
        for partitions in 1...40 {
            for machines in 2...6 {
                let members = machines * loops
                for place in 0..<members {
                    let own = Self.block(place, of: members, partitions)
                    let followed = StandbyPlacement.partitions(
                        besides: own.sorted(),
                        of: Int32(partitions),
                        loops: loops
                    )
                    #expect(own.isDisjoint(with: followed))
                    let covered = own.union(followed)
                    for gone in 0..<machines where gone != place / loops {
                        let rest = gone < place / loops ? place - loops : place
                        let next = Self.block(rest, of: members - loops, partitions)
                        // One without partitions does not know which member it is.
                        let isCovered = own.isEmpty || covered.isSuperset(of: next)
                        #expect(isCovered, "\(partitions) partitions, member \(place) of \(members), without \(gone)")
                    }
                }
            }
        }
    }

    @Test func `with one loop a machine it follows about as much as it has`() {
        for (partitions, members) in [(64, 3), (64, 8), (256, 20), (512, 20)] {
            let followed = (0..<members).reduce(0) { sum, place in
                let own = Self.block(place, of: members, partitions).sorted()
                return sum + StandbyPlacement.partitions(besides: own, of: Int32(partitions), loops: 1).count
            }
            #expect(Double(followed) <= 1.1 * Double(partitions), "\(partitions) among \(members)")
        }
        #expect(StandbyPlacement.partitions(besides: [], of: 8, loops: 1).isEmpty)
        #expect(StandbyPlacement.partitions(besides: [0, 2], of: 8, loops: 1).isEmpty, "another assignor's")
    }

    // MARK: Following

    /// A mark of partition 1.
    private static func mark(_ identity: [UInt8]?) -> StoredRecord {
        let mark = PartitionMark(appliedOffset: 4, group: Array("group".utf8), identity: identity)
        let (key, value) = LedgerCodec.encode(.mark(mark))
        return StoredRecord(partition: 1, key: key, value: value)
    }

    /// A member of two that owns partition 0, reads it, and knows where the ledger of partition 1 ends.
    private static func standby(end: Int64) throws -> (MemberBench, [StandbyEvent]) {
        let bench = try MemberBench(partitions: 2, standbyLoops: 1)
        try bench.read()
        bench.brokers.ledgerEnd = end
        return (bench, try read(bench, times: 2))
    }

    /// Lets it read on.
    ///
    /// - Parameter kept: the partitions whose ledgers the loop keeps; nil = those that earlier events named.
    private static func read(_ bench: MemberBench, kept: Set<Int32>? = nil, times: Int = 1) throws -> [StandbyEvent] {
        var events: [StandbyEvent] = []
        for _ in 0..<times {
            try bench.steps(1)
            let (whole, all) = (bench.whole, bench.told)
            let new = bench.member.readStandby(
                most: 100,
                mayWait: false,
                kept: kept ?? whole,
                reading: kept == nil ? all.subtracting(whole) : [],
                at: bench.now
            )
            for event in new {
                if case .emptied(let partition) = event { bench.told.insert(partition) }
                if case .emptied(let partition) = event { bench.whole.remove(partition) }
                if case .whole(let partition) = event { bench.whole.insert(partition) }
                if case .left(let partition) = event { bench.told.remove(partition) }
            }
            events += new
        }
        return events
    }

    /// The topic gives marks at these offsets, and is read up to a position.
    private static func give(_ bench: MemberBench, _ marks: [(Int64, [UInt8]?)], to position: Int64) {
        bench.followed.chunks.append(
            LedgerChunk(StoredRecords(marks.map { mark($0.1) }), offsets: marks.map(\.0))
        )
        bench.followed.positions[1] = position
    }

    @Test func `a ledger is read from its beginning, and whole at the end that it had, if a mark proves it`() throws {
        let (bench, events) = try Self.standby(end: 8)
        #expect(events == [.emptied(1)] && bench.followed.positions[1] == 0)
        #expect(bench.member.standbyLag == [1: 8])
        Self.give(bench, [(2, [8])], to: 3)
        #expect(try Self.read(bench) == [.records(StoredRecords([Self.mark([8])]))])
        Self.give(bench, [(6, nil)], to: 8)
        #expect(try Self.read(bench) == [.records(StoredRecords([Self.mark(nil)]))], "an older version's mark")
        Self.give(bench, [(9, [8])], to: 10)
        let read = try Self.read(bench)
        #expect(read == [.records(StoredRecords([Self.mark([8])])), .whole(1)])
        #expect(bench.member.ledgers.ends[1] == 10 && bench.member.ledgers.marks[1]?.offset == 9)
        #expect(bench.member.standbyLag == [1: 0])
    }

    /// One that has read the ledger of partition 1 up to offset 10, whose newest mark is at 8.
    private static func whole() throws -> MemberBench {
        let (bench, _) = try standby(end: 10)
        give(bench, [(8, [8])], to: 10)
        #expect(try read(bench).contains(.whole(1)))
        return bench
    }

    @Test func `it is taken over as a kept ledger, from its newest mark on, and nothing of it is followed then`() throws
    {
        let bench = try Self.whole()
        Self.give(bench, [(12, [8])], to: 13)
        _ = try Self.read(bench)
        try bench.steps(with: .revoked([0]))
        try bench.member.release()
        bench.brokers.ledgerEnd = 20
        try bench.steps(with: .assigned([0, 1]))
        #expect(bench.followed.positions[1] == nil)
        bench.member.changes = []
        bench.member.restore(kept: [0, 1], of: bench.member.announcement, at: bench.now)
        try bench.steps(2)
        #expect(bench.ledger.positions[1] == 12)
        bench.ledger.chunks = [LedgerChunk(StoredRecords([Self.mark([8])]), offsets: [19])]
        bench.ledger.positions = [0: 20, 1: 20]
        let events = try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
        #expect(events.contains(.ledgerGiven(1)) && bench.member.restores[.standby] == 1)
        #expect(
            bench.member.readStandby(most: 100, mayWait: false, kept: [], reading: [], at: bench.now).isEmpty,
            "all are its own"
        )
    }

    @Test(arguments: [[6], [9], nil] as [[UInt8]?])
    func `a mark of another line empties it, and it is read from its beginning`(identity: [UInt8]?) throws {
        let bench = try Self.whole()
        Self.give(bench, [(12, identity)], to: 13)
        let events = try Self.read(bench)
        #expect(events == [.records(StoredRecords([Self.mark(identity)])), .emptied(1)])
        #expect(bench.followed.positions[1] == nil)
        bench.now = bench.now + 1_000
        #expect(try Self.read(bench, times: 2) == [.left(1), .emptied(1)] && bench.followed.positions[1] == 0)
    }

    @Test func `a topic that was cut empties it; one that grew while it was asked for does not`() throws {
        let bench = try Self.whole()
        bench.now = bench.now + 10_000
        // The question goes out, and what follows is read before its answer is taken.
        for marks in [[], [(12, [8])]] as [[(Int64, [UInt8]?)]] {
            Self.give(bench, marks, to: marks.isEmpty ? 10 : 13)
            _ = bench.member.readStandby(most: 100, mayWait: false, kept: [1], reading: [], at: bench.now)
        }
        #expect(try !Self.read(bench).contains(.emptied(1)) && bench.followed.positions[1] == 13)
        bench.brokers.ledgerEnd = 12
        bench.now = bench.now + 10_000
        #expect(try Self.read(bench, times: 2).contains(.emptied(1)))
    }

    @Test
    func `a ledger that was its own is read on from its newest mark; one that the loop gave up, from its beginning`()
        throws
    {
        let bench = try MemberBench(partitions: 2, standbyLoops: 1)
        try bench.read()
        bench.brokers.ledgerEnd = 10
        bench.member.ledgers.note(9, LedgerMark(offset: 8, identity: [8]), of: 1)
        bench.whole = [1]
        #expect(try Self.read(bench, times: 3) == [] && bench.followed.positions[1] == 8)
        #expect(try Self.read(bench, kept: []) == [] && bench.followed.positions[1] == nil)
        bench.whole = []
        bench.now = bench.now + 1_000
        #expect(try Self.read(bench, times: 2) == [.emptied(1)] && bench.followed.positions[1] == 0)
    }

    @Test func `after a fault it goes on where it was; what is damaged again is left aside for ten minutes`() throws {
        let bench = try Self.whole()
        for turn in 0..<2 {
            bench.followed.fault = KafkaFault(.badMsg, "bytes").reading(1)
            let events = try Self.read(bench)
            #expect(events == (turn == 0 ? [] : [.emptied(1)]))
            bench.now = bench.now + 1_000
            let again = try Self.read(bench, times: 3)
            #expect(again.allSatisfy { $0 == (turn == 0 ? .current([1]) : .left(1)) })
            #expect(bench.member.standby.parts[1]?.next == (turn == 0 ? 10 : nil))
        }
        bench.now = bench.now + 600_000
        #expect(try Self.read(bench, times: 2).contains(.emptied(1)))
    }

    @Test func `a ledger is as the topic is once its leader has said so, each time anew`() throws {
        let bench = try Self.whole()
        for _ in 0..<3 { #expect(try Self.read(bench).isEmpty) }
        bench.brokers.fault = .timedOut("the leader is absent")
        bench.now = bench.now + 10_000
        #expect(try Self.read(bench, times: 3).isEmpty)
        bench.brokers.fault = nil
        bench.now = bench.now + 10_000
        #expect(try Self.read(bench, times: 3) == [.current([1])])
    }

    @Test func `marks of the other delivery prove nothing`() throws {
        let (bench, _) = try Self.standby(end: 10)
        Self.give(bench, [(8, [9])], to: 10)
        #expect(try !Self.read(bench).contains(.whole(1)))
        let own = try MemberBench(partitions: 2, standbyLoops: 1)
        try own.read()
        (own.brokers.ledgerEnd, own.whole) = (10, [1])
        own.member.ledgers.note(9, LedgerMark(offset: 8, identity: [9]), of: 1)
        #expect(try Self.read(own, times: 2).contains(.emptied(1)) && own.followed.positions[1] == 0)
    }

    @Test func `a first reading that takes longer than a quarter of an hour begins again, an hour later`() throws {
        let (bench, _) = try Self.standby(end: 10)
        bench.now = bench.now + 900_000
        #expect(try Self.read(bench, times: 3) == [.left(1)])
        bench.now = bench.now + 3_600_000
        #expect(try Self.read(bench, times: 3) == [.emptied(1)])
    }

    @Test func `one at its end that no mark proves stays as fresh as its leader's answers`() throws {
        let (bench, _) = try Self.standby(end: 10)
        Self.give(bench, [(8, [9])], to: 10)
        #expect(try !Self.read(bench).contains(.whole(1)))
        for _ in 0..<100 {
            bench.now = bench.now + 10_000
            #expect(try Self.read(bench, times: 2).isEmpty, "it is not read again")
        }
        bench.brokers.fault = .timedOut("the leader is absent")
        for _ in 0..<100 {
            bench.now = bench.now + 10_000
            if try Self.read(bench, times: 2) == [.left(1)] { return }
        }
        Issue.record("a ledger grows old where its leader says nothing")
    }

    @Test func `one without partitions follows nothing, and nothing of what it had stays`() throws {
        let (bench, _) = try Self.standby(end: 10)
        #expect(bench.told == [1])
        try bench.steps(with: .revoked([0]))
        try bench.member.release()
        try bench.steps(with: .assigned([]))
        bench.member.changes = []
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        #expect(try Self.read(bench) == [.left(1)] && bench.member.standbyLag.isEmpty)
        #expect(bench.member.standby.port == nil)
    }

    @Test func `two ledgers at a time are read from their beginnings; questions shrink where one has no answer`() throws
    {
        let bench = try MemberBench(partitions: 9, standbyLoops: 1)
        try bench.steps(with: .assigned([3, 4, 5]))
        bench.member.changes = []
        for event in [Partition.Event.restore, .ledgerProgress(.given(target: 0))] {
            bench.member.partitions.takeAll(event)
        }
        bench.brokers.ledgerEnd = 10
        #expect(try Self.read(bench, times: 4) == [.emptied(0), .emptied(1)])
        bench.brokers.fault = .timedOut("a leader is absent")
        for turn in 0..<6 {
            if turn == 4 { bench.brokers.fault = nil }
            bench.now = bench.now + 10_000
            _ = try Self.read(bench, times: 2)
        }
        let asked = bench.brokers.questions.compactMap { question -> [Int32]? in
            if case .ledgerEnds(let partitions) = question { partitions } else { nil }
        }
        #expect(asked.map(\.count) == [6, 6, 3, 1, 1, 1, 2], "\(asked)")
        #expect(Set(asked.suffix(4).joined()).count > 2, "each has its turn: \(asked)")
    }

    @Test func `nothing of others is read while something of its own is`() throws {
        let bench = try Self.whole()
        try bench.steps(with: .revoked([0]))
        try bench.member.release()
        try bench.steps(with: .assigned([0]))
        Self.give(bench, [(12, [8])], to: 13)
        #expect(bench.member.readStandby(most: 100, mayWait: false, kept: [1], reading: [], at: bench.now).isEmpty)
        bench.member.changes = []
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        #expect(bench.member.readStandby(most: 100, mayWait: false, kept: [1], reading: [], at: bench.now).isEmpty)
        #expect(bench.followed.chunks.count == 1)
    }
}
