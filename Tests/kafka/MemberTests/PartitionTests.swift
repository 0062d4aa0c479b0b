import KafkaPorts
import Pipeline
import Streams
import Testing

@testable import Member

@Suite("A partition's states")
struct PartitionTests {
    private static let at = Moment(milliseconds: 7)
    private static let id = CommitID(3)

    private static let states: [Partition.State] = [
        .assigned, .asked, .restoring(.endsUnknown), .committing(id, until: at), .starting(since: nil), .reading,
        .rewinding(since: nil), .held, .revoked,
    ]

    private static let events: [Partition.Event] = [
        .announced, .restore, .ledgerProgress(.given(target: 5)), .start, .commitFirst(id, until: at), .hold,
        .startCommitted, .sought, .notSought(at), .rewind, .offsetGone, .damaged,
        .takenOverAgain, .gone,
    ]

    private static let table = StateTable(
        """
                          | assigned | asked     | restoring  | committing | starting | reading   | rewinding | held     | revoked
        announced         | asked    | ✗         | ✗          | ✗          | ✗        | ✗         | ✗         | ✗        | ·
        restore           | ✗        | restoring | ✗          | ✗          | ✗        | ✗         | ✗         | ✗        | ·
        ledgerProgress    | ✗        | ✗         | restoring  | ✗          | ✗        | ✗         | ✗         | ✗        | ·
        start             | ✗        | ✗         | starting   | ✗          | ✗        | ✗         | ✗         | ✗        | ·
        commitFirst       | ✗        | ✗         | committing | ✗          | ✗        | ✗         | ✗         | ✗        | ·
        hold              | ✗        | ✗         | held       | ✗          | ✗        | ✗         | ✗         | ✗        | ·
        startCommitted    | ✗        | ✗         | ✗          | starting   | ✗        | ✗         | ✗         | ✗        | ·
        sought            | ✗        | ✗         | ✗          | ✗          | reading  | ✗         | reading   | ✗        | ·
        notSought         | ✗        | ✗         | ✗          | ✗          | starting | ✗         | rewinding | ✗        | ·
        rewind            | ·        | ·         | ·          | ·          | ·        | rewinding | ·         | ·        | ·
        offsetGone        | ·        | ·         | ·          | ·          | ·        | assigned  | assigned  | ·        | ·
        damaged           | ·        | ·         | ·          | ·          | ·        | held      | ·         | ·        | ·
        takenOverAgain    | assigned | assigned  | assigned   | assigned   | assigned | assigned  | assigned  | assigned | ·
        gone              | revoked  | revoked   | revoked    | revoked    | revoked  | revoked   | revoked   | revoked  | revoked
        """
    )

    @Test(arguments: events.indices)
    func `every state takes every event as it is drawn`(row: Int) {
        Self.table.expectRow(row, Self.states, Self.events, Partition.cell)
    }

    @Test func `each state but revoked leads to reading, to held and to its end`() {
        for state in Self.states where state != .revoked {
            var reached: Set<String> = []
            var open = [state]
            while let next = open.popLast() {
                guard reached.insert(StateTable.name(next)).inserted else { continue }
                for event in Self.events {
                    if case .becomes(let state) = Partition.cell(next, event) { open.append(state) }
                }
            }
            #expect(reached.isSuperset(of: ["reading", "held", "revoked"]), "\(state)")
        }
    }

    @Test func `the first seek that failed is remembered, not the last`() {
        var partition = started(at: 4)
        partition.take(.notSought(Moment(milliseconds: 10)))
        partition.take(.notSought(Moment(milliseconds: 20)))
        #expect(partition.state == .starting(since: Moment(milliseconds: 10)))
    }

    // MARK: Offsets

    private func started(at offset: Int64?) -> Partition {
        var partition = Partition(1)
        partition.found(CommittedOffset(partition: 1, offset: offset, metadata: PartitionPositions.metadata))
        for event in [Partition.Event.announced, .restore, .start] { partition.take(event) }
        return partition
    }

    @Test func `reading starts at the committed offset, or with the oldest record`() {
        #expect(started(at: 4).start == PartitionOffset(partition: 1, offset: 4))
        #expect(started(at: nil).start == PartitionOffset(partition: 1, offset: PartitionOffset.beginning))
        #expect(started(at: 4).isOwn)
    }

    @Test func `offsets rise, and a record before the next one is noticed`() {
        var partition = started(at: 4)
        let offsets: [(Int64, Bool)] = [(4, true), (9, true), (9, false), (3, false), (.max, false)]
        let risen = offsets.map { partition.noteHandedOut($0.0) }
        #expect(risen == offsets.map(\.1))
        #expect(partition.next == 10)
    }

    @Test func `a position between the committed and the next offset may be committed, and no other`() throws {
        var partition = started(at: 4)
        _ = partition.noteHandedOut(6)
        for position in 4...7 as ClosedRange<Int64> { try partition.check(position) }
        for position in [3, 8] as [Int64] {
            #expect(throws: KafkaFault.self) { try partition.check(position) }
        }
        partition.noteCommitted(7)
        #expect(throws: KafkaFault.self) { try partition.check(6) }
    }

    @Test func `an abort goes back to the committed offset`() {
        var partition = started(at: 4)
        _ = partition.noteHandedOut(6)
        partition.forgetHandedOut()
        #expect(partition.next == 4)
    }

    @Test func `nothing is left to answer behind markers, once everything before them is committed`() {
        var partition = started(at: 4)
        _ = partition.noteHandedOut(6)
        partition.noteEnd(9)
        #expect(partition.position == 4)
        partition.noteCommitted(7)
        #expect(partition.position == 9)
        partition.noteEnd(2)
        #expect(partition.position == 9)
    }

    // MARK: What the loop has heard

    /// A start whose seek fails is repeated before anything is committed behind the loss.
    @Test(
        arguments: [
            ([17, 17], [17, 0], ["17 are lost"]), ([17, 20], [17, 3], ["17 are lost", "20 are lost"]),
            ([17, 4], [17, 0], ["17 are lost", "4 are lost"]), ([0, 0], [0, 0], []),
        ] as [([Int64], [Int64], [String])]
    )
    func `a start that is repeated reports its loss once`(losses: [Int64], expected: [Int64], notes: [String]) {
        var table = PartitionTable()
        var reported: [PartitionStart.Report] = []
        for loss in losses {
            // It may be another member's between the two.
            table.replace([])
            table.replace([1])
            table.with(1) { if case .started(1, let report) = $0.report(Self.report(loss)) { reported.append(report) } }
        }
        #expect(reported.map(\.skippedAtMost) == expected && reported.map(\.deletedAtMost) == expected)
        #expect(reported.compactMap(\.note) == notes)
    }

    private static func report(_ loss: Int64, hasCommitted: Bool = true) -> PartitionStart.Report {
        var report = PartitionStart.Report()
        (report.skippedAtMost, report.deletedAtMost, report.hasCommitted) = (loss, loss, hasCommitted)
        report.note = loss > 0 ? "\(loss) are lost" : nil
        return report
    }

    @Test func `what is committed behind a start makes the next one's loss a new one`() {
        var partition = started(at: 4)
        _ = partition.report(Self.report(17, hasCommitted: false))
        #expect(partition.reported.isFirstOffsetDue)
        _ = partition.noteHandedOut(6)
        partition.noteCommitted(7)
        #expect(!partition.reported.isFirstOffsetDue)
        #expect(partition.report(Self.report(17)) == .started(1, Self.report(17)))
    }

    @Test func `a hold is reported once, and over when the partition is taken again`() {
        var partition = started(at: 4)
        #expect(partition.hold("damaged") == .held(1, "damaged", isNew: true))
        partition.noteTaken()
        #expect(partition.reported.hold == nil && partition.reported.isTaken)
        #expect(partition.hold("damaged") == .held(1, "damaged", isNew: false))
        #expect(partition.hold("cut") == .held(1, "cut", isNew: true))
        #expect(partition.reported.hold == "cut")
    }

    @Test func `a table finds its partitions, and only those`() {
        var table = PartitionTable()
        table.replace([9, 2, 5, 2])
        #expect(table.numbers == [2, 5, 9])
        for number in [2, 5, 9] as [Int32] { #expect(table[number]?.number == number) }
        for number in [-1, 0, 3, 7, 10, .max] as [Int32] { #expect(table[number] == nil) }
        table.take(.announced, 5)
        #expect(table.those { $0 == .asked }.map(\.number) == [5])
    }

    @Test func `committed offsets carry the worker's metadata`() {
        let offsets = [PartitionOffset].own([PartitionPosition(partition: 2, offset: 7)])
        #expect(offsets == [PartitionOffset(partition: 2, offset: 7, metadata: Array("attest-worker/1".utf8))])
    }
}
