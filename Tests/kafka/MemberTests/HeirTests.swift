import KafkaPorts
import Pipeline
import Streams
import Testing

@testable import Member

/// A member that inherits partitions of a process which died inside a transaction.
@Suite("A member whose partitions another process holds back")
struct HeirTests {
    @Test func `offsets are asked for together, and after a time-out each alone, for longer in each round`() {
        var questions = OffsetQuestions()
        var (asked, limits, goesOn): ([[Int32]], [Int], [Bool]) = ([], [], [])
        // What is missing at each question; the third one is answered.
        for (missing, isAnswered) in [
            ([3, 1, 2], false), ([3, 1, 2], true), ([1, 2], false), ([1, 2], false), ([1, 2], false),
        ]
            as [([Int32], Bool)]
        {
            asked.append(questions.next(of: missing))
            limits.append(questions.limit)
            if !isAnswered { goesOn.append(questions.noteTimeout(of: missing)) }
        }
        #expect(asked == [[3, 1, 2], [3], [1], [2], [1, 2]])
        #expect(limits == [500, 500, 500, 500, 1_000])
        #expect(goesOn == [true, true, false, true])
        for _ in 0..<40 { _ = questions.noteTimeout(of: [1, 2]) }
        #expect(questions.limit == 5_000)
    }

    @Test func `one partition that is held back is asked for again after a pause`() {
        var questions = OffsetQuestions()
        let goesOn = questions.noteTimeout(of: [4])
        let next = questions.next(of: [4])
        #expect(!goesOn && next == [4] && questions.limit == 1_000)
    }

    /// A member of two partitions, the second of which is held back.
    private static func heir(of writer: String?, end: Int64 = 8) throws -> MemberBench {
        let bench = try MemberBench()
        (bench.brokers.unstable, bench.brokers.ledgerEnd) = ([1], end)
        bench.brokers.members = [Array("one".utf8), Array("two".utf8)]
        try bench.steps(with: .assigned([0, 1]))
        let mark = PartitionMark(appliedOffset: 4, group: Array("group".utf8), writer: writer.map { Array($0.utf8) })
        let (key, value) = LedgerCodec.encode(.mark(mark))
        let record = StoredRecord(partition: 1, key: key, value: value)
        bench.ledger.chunks = [LedgerChunk(StoredRecords([record]), offsets: [2])]
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        try restore(bench, milliseconds: 10)
        bench.ledger.positions = [0: end, 1: 3]
        return bench
    }

    @discardableResult
    private static func restore(_ bench: MemberBench, milliseconds: Int64) throws -> [PartitionEvent] {
        var events: [PartitionEvent] = []
        let end = bench.now + milliseconds
        while bench.now < end {
            events += try bench.member.readLedgers(most: 100, waiting: 0, at: bench.now)
            bench.now = bench.now + 5
        }
        return events.filter { if case .ledger = $0 { false } else { true } }
    }

    @Test func `a member that knows no offset at all reads the ledgers all the same`() throws {
        let bench = try MemberBench()
        (bench.brokers.unstable, bench.brokers.ledgerEnd) = ([0, 1], 0)
        try bench.steps(20, with: .assigned([0, 1]))
        #expect(bench.member.membership.state == .owning)
        bench.member.changes = []
        bench.member.restore(kept: [], of: bench.member.announcement, at: bench.now)
        // Nothing is there to be read of an empty ledger, and it is not given before its offset is known.
        #expect(try Self.restore(bench, milliseconds: 2_000).isEmpty)
        bench.brokers.unstable = []
        #expect(try Self.restore(bench, milliseconds: 6_000) == [.ledgerGiven(0), .ledgerGiven(1)])
    }

    private static func ended(_ bench: MemberBench) -> [[UInt8]] {
        bench.brokers.questions.compactMap { if case .abortTransaction(let id) = $0 { id } else { nil } }
    }

    @Test func `the transaction of a process that has left the group is ended, once, after a while`() throws {
        let bench = try Self.heir(of: "three")
        try Self.restore(bench, milliseconds: 1_400)
        #expect(Self.ended(bench).isEmpty)
        try Self.restore(bench, milliseconds: 20_000)
        #expect(Self.ended(bench) == [Array("three".utf8)])
        // Another assignment may have it ended again.
        try bench.steps(with: .revoked([0, 1]))
        try bench.member.release()
        try bench.steps(with: .assigned([0, 1]))
        bench.member.restore(kept: [0, 1], of: bench.member.announcement, at: bench.now)
        try Self.restore(bench, milliseconds: 20)
        bench.ledger.positions[1] = 3
        try Self.restore(bench, milliseconds: 20_000)
        #expect(Self.ended(bench).count == 2)
    }

    /// Its transaction may have written of a partition without its ledger, and readers of results wait for its end.
    @Test func `the transaction of one that has left is ended at once where the ledger is whole`() throws {
        let bench = try Self.heir(of: "three", end: 3)
        bench.brokers.unstable = []
        #expect(try Self.restore(bench, milliseconds: 700).contains(.ledgerGiven(1)))
        try bench.steps(20)
        #expect(Self.ended(bench) == [Array("three".utf8)])
        try bench.steps(200)
        #expect(Self.ended(bench).count == 1)
    }

    @Test func `one that the brokers did not end is ended later`() throws {
        let bench = try Self.heir(of: "three", end: 3)
        (bench.brokers.unstable, bench.brokers.abortFault) = ([], .timedOut("no answer"))
        try Self.restore(bench, milliseconds: 700)
        try bench.steps(20)
        bench.brokers.abortFault = nil
        try Self.restore(bench, milliseconds: 20_000)
        #expect(Self.ended(bench).count > 1)
    }

    /// No mark says whose it is; ours; a member's, which ends it by itself.
    @Test(arguments: [nil, "one", "two"], [3, 8])
    func `no other transaction is ended`(writer: String?, end: Int64) throws {
        let bench = try Self.heir(of: writer, end: end)
        if end == 3 { bench.brokers.unstable = [] }
        try Self.restore(bench, milliseconds: 20_000)
        #expect(Self.ended(bench).isEmpty)
    }

    @Test func `where clients share a name, nobody is taken for dead`() throws {
        let bench = try Self.heir(of: "three")
        bench.brokers.members = [Array("workers".utf8)]
        try Self.restore(bench, milliseconds: 20_000)
        #expect(Self.ended(bench).isEmpty)
    }

    @Test func `a ledger that moves, or whose end is not known, is not held back by anybody`() throws {
        let bench = try Self.heir(of: "three", end: 1_000)
        for position in 4..<900 as Range<Int64> {
            bench.ledger.positions[1] = position
            try Self.restore(bench, milliseconds: 10)
        }
        #expect(Self.ended(bench).isEmpty)
    }
}
