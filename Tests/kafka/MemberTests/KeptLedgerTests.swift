import KafkaPorts
import Pipeline
import Streams
import Testing

@testable import Member

/// A partition that comes back while its ledger is kept: what is read of the topic, and when that counts.
@Suite("A kept ledger")
struct KeptLedgerTests {
    /// A mark of a ledger; nil = one that was forgotten.
    private static func record(_ identity: [UInt8]??) -> StoredRecord {
        let change: LedgerChange =
            identity.map { .mark(PartitionMark(appliedOffset: 4, group: Array("group".utf8), identity: $0)) }
            ?? .markForgotten
        let (key, value) = LedgerCodec.encode(change)
        return StoredRecord(partition: 0, key: key, value: value)
    }

    /// Reads the ledger of partition 0 to an end.
    ///
    /// - Returns: where reading began, and what the loop hears.
    private static func restore(
        _ bench: MemberBench,
        kept: Set<Int32>,
        to end: Int64,
        _ marks: [(Int64, [UInt8]??)]
    ) throws -> (start: Int64?, events: [PartitionEvent]) {
        bench.brokers.ledgerEnd = end
        try bench.steps(with: .assigned([0]))
        bench.member.changes = []
        bench.member.restore(kept: kept, of: bench.member.announcement, at: bench.now)
        let records = StoredRecords(marks.map { record($0.1) })
        try bench.steps(2)
        let start = bench.ledger.positions[0]
        bench.ledger.chunks = [LedgerChunk(records, offsets: marks.map(\.0))]
        bench.ledger.positions[0] = end
        var events: [PartitionEvent] = []
        for _ in 0..<3 {
            events += try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
            bench.now = bench.now + 5
        }
        return (start, events.filter { if case .ledger = $0 { false } else { true } })
    }

    /// A member that has read a ledger up to offset 8, whose newest mark is at 5.
    private static func known(_ identity: [UInt8]?) throws -> MemberBench {
        let bench = try MemberBench()
        let first = try restore(bench, kept: [], to: 8, [(2, [7]), (5, identity)])
        #expect(first.start == 0 && first.events == [.ledgerGiven(0)])
        try bench.steps(with: .revoked([0]))
        try bench.member.release()
        return bench
    }

    @Test(arguments: [5, 6, 19])
    func `it counts if the newest mark has its identity, whether compaction has taken the known one or not`(
        offset: Int64
    ) throws {
        let bench = try Self.known([2])
        let marks: [(Int64, [UInt8]??)] = offset == 5 ? [(5, [2])] : offset == 6 ? [(5, [2]), (6, [2])] : [(19, [2])]
        let again = try Self.restore(bench, kept: [0], to: 20, marks)
        #expect(again.start == 5 && again.events == [.ledgerGiven(0)])
    }

    @Test(
        arguments: [
            [(19, [6])], [(5, [2]), (19, nil)], [(5, [2]), (19, .some(nil))], [], [(5, [2]), (12, [6])],
        ] as [[(Int64, [UInt8]??)]]
    )
    func `the ledger is read whole if the newest mark has another identity or none, or if no mark is left`(
        marks: [(Int64, [UInt8]??)]
    ) throws {
        let bench = try Self.known([2])
        let again = try Self.restore(bench, kept: [0], to: 20, marks)
        #expect(again.start == 5 && !again.events.contains(.ledgerGiven(0)))
        #expect(bench.member.ledgers.ends[0] == .max)
    }

    @Test func `the ledger is read whole after an older version's mark, and if the topic ends before the known end`()
        throws
    {
        for (identity, end) in [(nil, 20), ([2], 7)] as [([UInt8]?, Int64)] {
            let bench = try Self.known(identity)
            let again = try Self.restore(bench, kept: [0], to: end, [(6, [3])])
            #expect(again.start == 0 && again.events == [.ledgerDropped(0), .ledgerGiven(0)])
        }
    }

    /// A restore with a copy in a file, whose tail begins at 5.
    private static func copied(
        _ parts: [LedgerFilePart],
        to end: Int64 = 20,
        _ marks: [(Int64, [UInt8]??)]
    ) throws -> (bench: MemberBench, start: Int64?, events: [PartitionEvent]) {
        let bench = try MemberBench()
        bench.files.files[0] = ScriptedFiles.File(from: 5, identity: [2], parts)
        let found = try restore(bench, kept: [], to: end, marks)
        return (bench, found.start, found.events)
    }

    @Test func `a copy is read first, then the tail from its mark; it counts if the newest mark has its identity`()
        throws
    {
        let part = LedgerFilePart.records(StoredRecords([Self.record([2])]))
        let bench = try MemberBench()
        bench.brokers.ledgerEnd = 20
        bench.files.files[0] = ScriptedFiles.File(from: 5, identity: [2], [part, .reading, part])
        try bench.steps(with: .assigned([0]))
        bench.member.changes = []
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        try bench.steps(2)
        var (records, starts): (Int, [Int64?]) = (0, [])
        for _ in 0..<5 {
            for case .ledger(let chunk, _) in try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now) {
                records += chunk.count
            }
            starts.append(bench.ledger.positions[0])
        }
        #expect(records == 2 && starts == [nil, nil, nil, 5, 5], "\(starts)")
        bench.ledger.chunks = [LedgerChunk(StoredRecords([Self.record([2])]), offsets: [19])]
        bench.ledger.positions[0] = 20
        let events = try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
        #expect(events.contains(.ledgerGiven(0)) && bench.member.restores == [.snapshot: 1])
    }

    @Test(arguments: [[(19, [6])], [], [(19, .some(nil))]] as [[(Int64, [UInt8]??)]])
    func `a copy of another line is read in vain, and the topic from its beginning`(marks: [(Int64, [UInt8]??)]) throws
    {
        let bench = try MemberBench()
        bench.brokers.ledgerEnd = 20
        bench.files.files[0] = ScriptedFiles.File(from: 5, identity: [2], [])
        try bench.steps(with: .assigned([0]))
        bench.member.changes = []
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        try bench.steps(2)
        _ = try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
        #expect(bench.ledger.positions[0] == 5)
        bench.ledger.chunks = [LedgerChunk(StoredRecords(marks.map { Self.record($0.1) }), offsets: marks.map(\.0))]
        bench.ledger.positions[0] = 20
        let events = try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
        #expect(!events.contains(.ledgerGiven(0)) && bench.files.discarded == [0])
        #expect(events.first == .ledgerDropped(0) && bench.ledger.positions[0] == 0, "read from the beginning")
        let isEmpty = events.allSatisfy { if case .ledger(let records, _) = $0 { records.isEmpty } else { true } }
        #expect(isEmpty, "what was read of it comes again")
    }

    @Test func `a copy that is damaged is dropped, and the topic is read from its beginning`() throws {
        let part = LedgerFilePart.records(StoredRecords([Self.record([2])]))
        let bench = try MemberBench()
        bench.brokers.ledgerEnd = 20
        bench.files.files[0] = ScriptedFiles.File(from: 5, identity: [2], [part, .damaged("test")])
        try bench.steps(with: .assigned([0]))
        bench.member.changes = []
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        try bench.steps(2)
        _ = try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
        let events = try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
        #expect(events.first == .ledgerDropped(0) && bench.ledger.positions[0] == 0 && bench.files.discarded == [0])
        bench.ledger.chunks = [LedgerChunk(StoredRecords([Self.record([4])]), offsets: [19])]
        bench.ledger.positions[0] = 20
        #expect(try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now).contains(.ledgerGiven(0)))
        #expect(bench.member.restores == [.topic: 1])
    }

    @Test func `a copy that begins where the topic has ended is not used`() throws {
        let (bench, start, events) = try Self.copied([], to: 5, [(4, [2])])
        #expect(start == 0 && events == [.ledgerGiven(0)] && bench.files.discarded == [0])
    }

    @Test(arguments: [0, 1, 15, 16, 17])
    func `a ledger is copied with an identity of 16 bytes alone`(count: Int) throws {
        let identity = [UInt8](repeating: 2, count: count)
        let mark = try Self.known(identity).member.ledgerMark(of: 0)
        #expect(mark?.identity == (count == 16 ? identity : nil) && mark?.offset ?? 5 == 5)
    }

    @Test func `a worker that has seen records go missing starts a new identity`() throws {
        let bench = try Self.known([2])
        _ = try Self.restore(bench, kept: [0], to: 7, [(6, [2])])
        #expect(bench.member.ledgerIdentity(of: 0) == [8])
    }

    @Test func `a ledger without an identity gets one, until its marks have one`() throws {
        let bench = try Self.known(nil)
        #expect(bench.member.ledgerIdentity(of: 0) == [8])
        _ = try Self.restore(bench, kept: [], to: 30, [(29, [4])])
        #expect(bench.member.ledgerIdentity(of: 0) == [4])
        _ = try Self.restore(bench, kept: [], to: 40, [(39, [5])])
        #expect(bench.member.ledgerIdentity(of: 0) == [8], "marks of at-least-once delivery are another line")
    }
}
