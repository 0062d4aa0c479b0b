import AppAttest
import Kafka
import KafkaPorts
import Pipeline
import Settings
import Streams
import Testing

@testable import Broker
@testable import Commands

/// The table of positions, row by row, each with its neighbours.
struct PartitionPositionsTests {
    private static let (own, others) = (Array("workers".utf8), Array("others".utf8))

    /// Requests from 10 to 1,000.
    private static func found(
        _ committed: Int64?,
        isOwn: Bool = true,
        mark: PositionMark? = nil,
        isEmpty: Bool = false,
        others: Bool = false
    ) -> PartitionPositions {
        var positions = PartitionPositions(3, committed: committed, isOwn: isOwn, group: own)
        (positions.mark, positions.ledgerIsEmpty, positions.ends) = (mark, isEmpty, (10, 1_000))
        positions.groupHasOffsets = others || committed != nil
        return positions
    }

    private static func mark(
        _ applied: Int64,
        _ delivery: PositionMark.Delivery = .transaction,
        group: [UInt8] = own
    ) -> PositionMark {
        PositionMark(appliedOffset: applied, group: group, delivery: delivery)
    }

    /// As older versions wrote it where they forgot something.
    private static let olderTransaction = PositionMark()
    /// As older versions wrote it in at-least-once delivery.
    private static func olderAtLeastOnce(_ applied: Int64) -> PositionMark {
        PositionMark(appliedOffset: applied)
    }

    /// A partition in order but for the number of partitions.
    private static func placed(on partitions: Int32, marked: Int32?, others: Int32? = nil) -> PartitionPositions {
        var mark = mark(500)
        mark.partitions = marked
        var positions = found(500, mark: mark)
        (positions.partitions, positions.otherPartitions) = (partitions, others)
        return positions
    }

    /// A partition that was added.
    private static var added: PartitionPositions {
        var positions = found(nil, isEmpty: true, others: true)
        (positions.partitions, positions.otherPartitions) = (4, 3)
        return positions
    }

    struct Start: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let found: PartitionPositions
        let offset: Int64?
        let skipped: Int64
        /// The message's words; nil = no message.
        let note: String?
        /// What is committed before anything is read.
        let commitsFirst: Int64?

        init(
            _ row: String,
            _ found: PartitionPositions,
            at offset: Int64?,
            skipped: Int64 = 0,
            note: String? = nil,
            commitsFirst: Int64? = nil
        ) {
            (testDescription, self.found, self.offset, self.skipped) = (row, found, offset, skipped)
            (self.note, self.commitsFirst) = (note, commitsFirst)
        }
    }

    static let starts: [Start] = [
        Start("1, first start", found(nil, isEmpty: true), at: nil),
        Start("1, a partition was added", found(nil, isEmpty: true, others: true), at: nil),
        Start("1, an older version's import, and a partition without traffic yet", found(nil, others: true), at: nil),
        Start("2, imported", found(nil, mark: mark(0)), at: nil),
        Start("2, imported, others are at work", found(nil, mark: mark(0), others: true), at: nil),
        Start(
            "2, the first batch was cut short at least once",
            found(nil, mark: mark(40, .atLeastOnceUncommitted)),
            at: 40,
            commitsFirst: 40
        ),
        Start("6, upgrade without a mark", found(500, isOwn: false), at: 500),
        Start(
            "6, upgrade where nothing was accepted, or a reset",
            found(500, isOwn: false, isEmpty: true),
            at: 500,
            note: "nothing of the requests before offset 500"
        ),
        Start("6, upgrade, transactions", found(500, isOwn: false, mark: olderTransaction), at: 500),
        Start("6, upgrade, at least once", found(500, isOwn: false, mark: olderAtLeastOnce(500)), at: 500),
        Start("6, upgrade, moved forward", found(500, isOwn: false, mark: olderAtLeastOnce(400)), at: 500),
        Start(
            "6, upgrade after a crash, at least once",
            found(500, isOwn: false, mark: olderAtLeastOnce(501)),
            at: 500,
            note: "before offset 501 were answered"
        ),
        Start(
            "6, a rolling upgrade and a crash of an older version, at least once",
            found(500, mark: olderAtLeastOnce(510)),
            at: 500,
            note: "before offset 510 were answered"
        ),
        Start("7, normal", found(500, mark: mark(500)), at: 500),
        Start("7, normal at least once", found(500, mark: mark(500, .atLeastOnce)), at: 500),
        Start("7, after reset --offsets-only", found(500, isOwn: false, mark: mark(500)), at: 500),
        Start("7, nothing is accepted yet", found(500, mark: mark(500), isEmpty: true), at: 500),
        Start(
            "8, moved forward",
            found(501, isOwn: false, mark: mark(500)),
            at: 501,
            skipped: 1,
            note: "from 500 to 501"
        ),
        Start("11, a crash at least once", found(499, mark: mark(500, .atLeastOnce)), at: 500, commitsFirst: 500),
        Start(
            "11, a crash behind the first offset",
            found(499, mark: mark(500, .atLeastOnceUncommitted)),
            at: 500,
            commitsFirst: 500
        ),
        Start(
            "11, a crash in the first batch after a reset or an upgrade",
            found(499, isOwn: false, mark: mark(500, .atLeastOnceUncommitted)),
            at: 500,
            commitsFirst: 500
        ),
        Start(
            "13, retention overtook",
            found(9, mark: mark(9)),
            at: 10,
            skipped: 1,
            note: "up to 1 requests, from offset 9 on"
        ),
        Start(
            "11 and 13, retention overtook what a crash had left uncommitted: the mark is committed",
            found(5, mark: mark(7, .atLeastOnce)),
            at: 10,
            skipped: 3,
            note: "up to 3 requests, from offset 7 on",
            commitsFirst: 7
        ),
        Start("13, just not", found(10, mark: mark(10)), at: 10),
        Start(
            "8 and 13",
            found(7, isOwn: false, mark: mark(3)),
            at: 10,
            skipped: 7,
            note: "up to 3 requests, from offset 7 on"
        ),
        Start("14, just not", found(1_000, mark: mark(1_000)), at: 1_000),
        Start("as many partitions as the mark names", placed(on: 4, marked: 4), at: 500),
        Start("a mark that names no number", placed(on: 4, marked: nil), at: 500),
    ]

    /// How the rows begin in which this group has committed no offset.
    private static let withoutOwnOffset = ["1, ", "2, ", "6, upgrade", "7, after", "8", "11, a crash in"]

    @Test(arguments: starts)
    func `reading continues from consistent positions`(item: Start) throws {
        guard case .start(let offset, let report) = item.found.decision else {
            Issue.record("held: \(item.found.decision)")
            return
        }
        #expect(offset == item.offset)
        #expect(report.skippedAtMost == item.skipped && report.uncommitted == item.commitsFirst)
        let isForeign = Self.withoutOwnOffset.contains { item.testDescription.hasPrefix($0) }
        #expect(report.hasCommitted == !isForeign)
        #expect((report.note == nil) == (item.note == nil), "\(report.note ?? "")")
        if let note = item.note { #expect(report.note?.contains(note) == true, "\(report.note ?? "")") }
    }

    struct Hold: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let found: PartitionPositions
        /// The sentence names what happened, and each way out.
        let names: [String]

        init(_ row: String, _ found: PartitionPositions, _ names: [String]) {
            (testDescription, self.found, self.names) = (row, found, names)
        }
    }

    private static let out = "attest-worker reset --config DIR --offsets-only --partitions 3 --to-"
    private static let (toApplied, toCommitted) = (out + "applied", out + "committed")
    private static let (toBeginning, toEnd) = (out + "beginning", out + "end")

    static let holds: [Hold] = [
        Hold("3, an older version's offsets are gone", found(nil), ["the group has no offset", toBeginning, toEnd]),
        Hold("3, with a mark", found(nil, mark: olderTransaction), [toBeginning, toEnd]),
        Hold("3, with a mark, at least once", found(nil, mark: olderAtLeastOnce(7)), [toBeginning, toEnd]),
        Hold("3, of this partition alone", found(nil, mark: olderTransaction, others: true), [toBeginning, toEnd]),
        Hold(
            "4, offsets are gone",
            found(nil, mark: mark(1)),
            ["before offset 1 are answered", toApplied, toBeginning]
        ),
        Hold(
            "4, at least once, others have theirs",
            found(nil, mark: mark(1, .atLeastOnce), others: true),
            [toApplied, toBeginning]
        ),
        Hold(
            "5, another group's ledger",
            found(500, mark: mark(500, group: others)),
            ["group others", "offset 500", toApplied, "ledger topic of its own"]
        ),
        Hold("5, a group renamed", found(nil, mark: mark(500, group: others)), ["group others", toApplied]),
        Hold("5, imported for another group", found(nil, mark: mark(0, group: [])), [toApplied]),
        Hold(
            "5, names that only look alike",
            found(500, mark: mark(500, group: own + [0])),
            ["group workers ", toApplied]
        ),
        Hold(
            "9, moved back by hand",
            found(499, isOwn: false, mark: mark(500)),
            ["moved back to 499", "before 500", toApplied, toCommitted]
        ),
        Hold(
            "9, moved back by hand, at least once",
            found(0, isOwn: false, mark: mark(500, .atLeastOnce)),
            ["moved back to 0", toApplied, toCommitted]
        ),
        Hold(
            "10, the ledger was emptied",
            found(500, isEmpty: true),
            ["offset 500", "it has no mark", "import-keys", toCommitted]
        ),
        Hold("10, its mark is gone", found(500), ["it has no mark", toCommitted]),
        Hold(
            "10, it was truncated",
            found(500, mark: mark(499)),
            ["its last mark is of offset 499", "import-keys", toCommitted]
        ),
        Hold("10, down to an older version's mark", found(500, mark: olderTransaction), ["import-keys", toCommitted]),
        Hold(
            "10, down to an older version's mark, at least once",
            found(500, mark: olderAtLeastOnce(499)),
            ["import-keys", toCommitted]
        ),
        Hold("12, torn", found(499, mark: mark(500)), ["offset 499", "at 500", toApplied, toCommitted]),
        Hold(
            "14, requests made again",
            found(1_001, mark: mark(1_001)),
            ["offset 1001", "end 1000", toBeginning, toEnd]
        ),
        Hold("14, upgrade", found(1_001, isOwn: false), ["offset 1001", toBeginning, toEnd]),
        Hold(
            "14, at least once, behind a crash",
            found(999, mark: mark(1_001, .atLeastOnce)),
            ["offset 1001", toBeginning, toEnd]
        ),
        Hold(
            "14, at least once, before the first offset",
            found(nil, mark: mark(1_001, .atLeastOnceUncommitted)),
            ["offset 1001", toBeginning, toEnd]
        ),
    ]

    private static let moving = "Runbook"

    static let misplaced: [Hold] = [
        Hold("added", placed(on: 4, marked: 3), ["placed on 3 partitions", "have 4", moving]),
        Hold("one of one", placed(on: 2, marked: 1), ["placed on 1 partition and", "have 2", moving]),
        Hold("the topics were made with fewer", placed(on: 3, marked: 4), ["have 3", moving]),
        Hold("another partition's mark", placed(on: 4, marked: nil, others: 3), ["on 3 partitions", moving]),
        Hold("another's, beside its own", placed(on: 4, marked: 4, others: 3), ["on 3 partitions", moving]),
        Hold("the new one", added, ["placed on 3 partitions", "have 4", moving]),
        Hold("a move that has not ended", placed(on: 4, marked: 0), ["not all of them are here"]),
        Hold("a ledger that was moved", placed(on: 4, marked: -4), ["moved to another one"]),
    ]

    @Test(arguments: holds + misplaced)
    func `contradicting positions hold the partition, and the message names the remedy`(item: Hold) {
        guard case .hold(let sentence) = item.found.decision else {
            Issue.record("it starts: \(item.found.decision)")
            return
        }
        for name in item.names { #expect(sentence.contains(name), "\(sentence)") }
        #expect(!sentence.contains("\n") && sentence == sentence.printable)
    }

    @Test func `the message shows another group's name without control characters, and truncated`() {
        let name = [0x1B, 0x5B, 0x0A] + [UInt8](repeating: 0x61, count: 100_000)
        guard case .hold(let sentence) = Self.found(5, mark: Self.mark(5, group: name)).decision else {
            Issue.record("it starts")
            return
        }
        #expect(sentence == sentence.oneLine && sentence.utf8.count < 1_000)
    }

    @Test func `unknown ends hold no partition and count no requests`() {
        for offset in [0, 1_000_000] as [Int64] {
            var found = Self.found(offset, mark: Self.mark(offset))
            found.ends = nil
            #expect(found.decision == .start(offset, PartitionStart.Report()))
        }
    }
}
