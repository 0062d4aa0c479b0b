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
    private static let own = Array("workers".utf8)

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
        let row: String
        let found: PartitionPositions
        let offset: Int64?
        var skipped: Int64 = 0
        /// The message's words; nil = no message.
        var note: String?
        var hasCommitted = true
        /// What is committed before anything is read.
        var commitsFirst: Int64?
        var testDescription: String { row }
    }

    static let starts: [Start] = [
        Start(row: "1, first start", found: found(nil, isEmpty: true), offset: nil, hasCommitted: false),
        Start(
            row: "1, a partition was added",
            found: found(nil, isEmpty: true, others: true),
            offset: nil,
            hasCommitted: false
        ),
        Start(
            row: "1, an older version's import, and a partition without traffic yet",
            found: found(nil, others: true),
            offset: nil,
            hasCommitted: false
        ),
        Start(row: "2, imported", found: found(nil, mark: mark(0)), offset: nil, hasCommitted: false),
        Start(
            row: "2, imported, others are at work",
            found: found(nil, mark: mark(0), others: true),
            offset: nil,
            hasCommitted: false
        ),
        Start(
            row: "2, the first batch was cut short at least once",
            found: found(nil, mark: mark(40, .atLeastOnceUncommitted)),
            offset: 40,
            hasCommitted: false,
            commitsFirst: 40
        ),
        Start(row: "6, upgrade without a mark", found: found(500, isOwn: false), offset: 500, hasCommitted: false),
        Start(
            row: "6, upgrade where nothing was accepted, or a reset",
            found: found(500, isOwn: false, isEmpty: true),
            offset: 500,
            note: "nothing of the requests before offset 500",
            hasCommitted: false
        ),
        Start(
            row: "6, upgrade, transactions",
            found: found(500, isOwn: false, mark: olderTransaction),
            offset: 500,
            hasCommitted: false
        ),
        Start(
            row: "6, upgrade, at least once",
            found: found(500, isOwn: false, mark: olderAtLeastOnce(500)),
            offset: 500,
            hasCommitted: false
        ),
        Start(
            row: "6, upgrade, moved forward",
            found: found(500, isOwn: false, mark: olderAtLeastOnce(400)),
            offset: 500,
            hasCommitted: false
        ),
        Start(
            row: "6, upgrade after a crash, at least once",
            found: found(500, isOwn: false, mark: olderAtLeastOnce(501)),
            offset: 500,
            note: "before offset 501 were answered",
            hasCommitted: false
        ),
        Start(
            row: "6, a rolling upgrade and a crash of an older version, at least once",
            found: found(500, mark: olderAtLeastOnce(510)),
            offset: 500,
            note: "before offset 510 were answered"
        ),
        Start(row: "7, normal", found: found(500, mark: mark(500)), offset: 500),
        Start(row: "7, normal at least once", found: found(500, mark: mark(500, .atLeastOnce)), offset: 500),
        Start(
            row: "7, after reset --offsets-only",
            found: found(500, isOwn: false, mark: mark(500)),
            offset: 500,
            hasCommitted: false
        ),
        Start(row: "7, nothing is accepted yet", found: found(500, mark: mark(500), isEmpty: true), offset: 500),
        Start(
            row: "8, moved forward",
            found: found(501, isOwn: false, mark: mark(500)),
            offset: 501,
            skipped: 1,
            note: "from 500 to 501",
            hasCommitted: false
        ),
        Start(
            row: "11, a crash at least once",
            found: found(499, mark: mark(500, .atLeastOnce)),
            offset: 500,
            commitsFirst: 500
        ),
        Start(
            row: "11, a crash behind the first offset",
            found: found(499, mark: mark(500, .atLeastOnceUncommitted)),
            offset: 500,
            commitsFirst: 500
        ),
        Start(
            row: "11, a crash in the first batch after a reset or an upgrade",
            found: found(499, isOwn: false, mark: mark(500, .atLeastOnceUncommitted)),
            offset: 500,
            hasCommitted: false,
            commitsFirst: 500
        ),
        Start(
            row: "13, retention overtook",
            found: found(9, mark: mark(9)),
            offset: 10,
            skipped: 1,
            note: "up to 1 requests, from offset 9 on"
        ),
        Start(
            row: "11 and 13, retention overtook what a crash had left uncommitted: the mark is committed",
            found: found(5, mark: mark(7, .atLeastOnce)),
            offset: 10,
            skipped: 3,
            note: "up to 3 requests, from offset 7 on",
            commitsFirst: 7
        ),
        Start(row: "13, just not", found: found(10, mark: mark(10)), offset: 10),
        Start(
            row: "8 and 13",
            found: found(7, isOwn: false, mark: mark(3)),
            offset: 10,
            skipped: 7,
            note: "up to 3 requests, from offset 7 on",
            hasCommitted: false
        ),
        Start(row: "14, just not", found: found(1_000, mark: mark(1_000)), offset: 1_000),
        Start(row: "as many partitions as the mark names", found: placed(on: 4, marked: 4), offset: 500),
        Start(row: "a mark that names no number", found: placed(on: 4, marked: nil), offset: 500),
    ]

    @Test(arguments: starts)
    func `reading continues from consistent positions`(item: Start) throws {
        guard case .start(let offset, let report) = item.found.decision else {
            Issue.record("held: \(item.found.decision)")
            return
        }
        #expect(offset == item.offset)
        #expect(report.skippedAtMost == item.skipped && report.hasCommitted == item.hasCommitted)
        #expect(report.uncommitted == item.commitsFirst)
        #expect((report.note == nil) == (item.note == nil), "\(report.note ?? "")")
        if let note = item.note { #expect(report.note?.contains(note) == true, "\(report.note ?? "")") }
    }

    struct Hold: CustomTestStringConvertible, Sendable {
        let row: String
        let found: PartitionPositions
        /// The sentence names what happened, and each way out.
        let names: [String]
        var testDescription: String { row }
    }

    private static func out(_ target: String) -> String {
        "attest-worker reset --config DIR --offsets-only --partitions 3 --to-\(target)"
    }

    static let holds: [Hold] = [
        Hold(
            row: "3, an older version's offsets are gone",
            found: found(nil),
            names: ["the group has no offset", out("beginning"), out("end")]
        ),
        Hold(row: "3, with a mark", found: found(nil, mark: olderTransaction), names: [out("beginning"), out("end")]),
        Hold(
            row: "3, with a mark, at least once",
            found: found(nil, mark: olderAtLeastOnce(7)),
            names: [out("beginning"), out("end")]
        ),
        Hold(
            row: "3, of this partition alone",
            found: found(nil, mark: olderTransaction, others: true),
            names: [out("beginning"), out("end")]
        ),
        Hold(
            row: "4, offsets are gone",
            found: found(nil, mark: mark(1)),
            names: ["before offset 1 are answered", out("applied"), out("beginning")]
        ),
        Hold(
            row: "4, at least once, others have theirs",
            found: found(nil, mark: mark(1, .atLeastOnce), others: true),
            names: [out("applied"), out("beginning")]
        ),
        Hold(
            row: "5, another group's ledger",
            found: found(500, mark: mark(500, group: Array("others".utf8))),
            names: ["group others", "offset 500", out("applied"), "ledger topic of its own"]
        ),
        Hold(
            row: "5, a group renamed",
            found: found(nil, mark: mark(500, group: Array("others".utf8))),
            names: ["group others", out("applied")]
        ),
        Hold(
            row: "5, imported for another group",
            found: found(nil, mark: mark(0, group: [])),
            names: [out("applied")]
        ),
        Hold(
            row: "5, names that only look alike",
            found: found(500, mark: mark(500, group: own + [0])),
            names: ["group workers ", out("applied")]
        ),
        Hold(
            row: "9, moved back by hand",
            found: found(499, isOwn: false, mark: mark(500)),
            names: ["moved back to 499", "before 500", out("applied"), out("committed")]
        ),
        Hold(
            row: "9, moved back by hand, at least once",
            found: found(0, isOwn: false, mark: mark(500, .atLeastOnce)),
            names: ["moved back to 0", out("applied"), out("committed")]
        ),
        Hold(
            row: "10, the ledger was emptied",
            found: found(500, isEmpty: true),
            names: ["offset 500", "it has no mark", "import-keys", out("committed")]
        ),
        Hold(row: "10, its mark is gone", found: found(500), names: ["it has no mark", out("committed")]),
        Hold(
            row: "10, it was truncated",
            found: found(500, mark: mark(499)),
            names: ["its last mark is of offset 499", "import-keys", out("committed")]
        ),
        Hold(
            row: "10, down to an older version's mark",
            found: found(500, mark: olderTransaction),
            names: ["import-keys", out("committed")]
        ),
        Hold(
            row: "10, down to an older version's mark, at least once",
            found: found(500, mark: olderAtLeastOnce(499)),
            names: ["import-keys", out("committed")]
        ),
        Hold(
            row: "12, torn",
            found: found(499, mark: mark(500)),
            names: ["offset 499", "at 500", out("applied"), out("committed")]
        ),
        Hold(
            row: "14, requests made again",
            found: found(1_001, mark: mark(1_001)),
            names: ["offset 1001", "end 1000", out("beginning"), out("end")]
        ),
        Hold(
            row: "14, upgrade",
            found: found(1_001, isOwn: false),
            names: ["offset 1001", out("beginning"), out("end")]
        ),
        Hold(
            row: "14, at least once, behind a crash",
            found: found(999, mark: mark(1_001, .atLeastOnce)),
            names: ["offset 1001", out("beginning"), out("end")]
        ),
        Hold(
            row: "14, at least once, before the first offset",
            found: found(nil, mark: mark(1_001, .atLeastOnceUncommitted)),
            names: ["offset 1001", out("beginning"), out("end")]
        ),
    ]

    private static let moving = "Runbook"

    static let misplaced: [Hold] = [
        Hold(row: "added", found: placed(on: 4, marked: 3), names: ["placed on 3 partitions", "have 4", moving]),
        Hold(
            row: "one of one",
            found: placed(on: 2, marked: 1),
            names: ["placed on 1 partition and", "have 2", moving]
        ),
        Hold(row: "the topics were made with fewer", found: placed(on: 3, marked: 4), names: ["have 3", moving]),
        Hold(
            row: "another partition's mark",
            found: placed(on: 4, marked: nil, others: 3),
            names: ["on 3 partitions", moving]
        ),
        Hold(row: "the new one", found: added, names: ["placed on 3 partitions", "have 4", moving]),
        Hold(row: "a move that has not ended", found: placed(on: 4, marked: 0), names: ["not all of them are here"]),
        Hold(row: "a ledger that was moved", found: placed(on: 4, marked: -4), names: ["moved to another one"]),
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
