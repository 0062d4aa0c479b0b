import AppAttest
import Broker
import BrokerKit
import Crypto
import Foundation
import Kafka
import Pipeline
import Settings
import Streams
import TestKit
import Testing

@testable import Commands

extension LedgerProgramTests {
    /// A workplace with requests, keys, and ledger records of every kind, some that no version can read.
    private func occupied(_ prefix: String) throws -> (ProgramWorkplace, ends: [Int64]) {
        let workplace = try ProgramWorkplace(prefix)
        try workplace.simulate(devices: 10, records: 60)
        #expect(try workplace.importKeys(KeySamples.file(KeySamples.variety)).waitForEnd() == .exit(0))
        let digest = SHA256.hash([1])
        let time = EvaluationTime(milliseconds: 1_790_000_000_000)
        let consumed = ConsumedID(expiresAt: time, request: digest)
        let changes: [LedgerChange] = [
            .challenge(digest, consumed), .token(digest, consumed),
            .mark(PartitionMark(streamTime: time, appliedOffset: 5)),
            .rate(app: "projects/1/apps/a", RateCount(start: time, count: 3)), .sealingKey(7, since: time),
        ]
        var records = changes.map { StoredRecord($0, on: 1) }
        records += [
            StoredRecord(partition: 2, key: [99], value: [1]), StoredRecord(partition: 2, key: [], value: [2]),
            StoredRecord(partition: 0, key: [98], value: [1]), StoredRecord(partition: 0, key: [98], value: nil),
        ]
        try workplace.putLedger(records)
        let ends = try workplace.access.requestOffsets(partitions: workplace.partitions).map(\.high)
        #expect(ends.reduce(0, +) == 60)
        return (workplace, ends)
    }

    @Test func `a reset without yes shows its plan and changes nothing`() throws {
        let (workplace, ends) = try occupied("planned")
        let before = try workplace.records(of: workplace.topic("ledger"))
        for (arguments, targets) in [([], ends), (["--to-beginning"], [0, 0, 0])] {
            let plan = try workplace.done("reset", arguments)
            let lines = plan.output.split(separator: "\n")
            #expect(lines.first == "group planned, requests planned.requests, ledger planned.ledger")
            #expect(lines.last == "nothing was changed; --yes carries out the plan")
            let cells = lines.dropFirst(2).dropLast().map { $0.split(separator: " ").map(String.init) }
            #expect(cells.map { $0[0] } == ["0", "1", "2"])
            #expect(cells.allSatisfy { $0[1] == "none" })
            #expect(cells.map { $0[2] } == targets.map(String.init))
            let live = cells.compactMap { Int($0[3]) }.reduce(0, +)
            #expect(live == 17, "8 keys, 5 of the other kinds, the other marks of the import, 2 that nobody can read")
        }
        #expect(try workplace.records(of: workplace.topic("ledger")) == before)
        #expect(try workplace.committed() == [nil, nil, nil])
    }

    @Test func `a reset moves the offsets and forgets the ledger, whatever its content; the next one does the rest`()
        throws
    {
        let (workplace, ends) = try occupied("forgotten")
        let unreadable = try workplace.refused("export-keys")
        #expect(
            unreadable.saysOneLine("attest-worker: the ledger topic's partition 2 has a record that cannot be read")
        )
        let reset = try workplace.done("reset", "--yes")
        #expect(reset.output.hasSuffix("done: offsets moved, 17 ledger records forgotten\n"), "\(reset.output)")
        #expect(try workplace.committed() == ends)
        #expect(try workplace.liveLedgerKeys() == [:])
        // The two unreadable records are gone too, so the export works.
        #expect(try workplace.exported() == "")
        let records = try workplace.records(of: workplace.topic("ledger")).count
        let again = try workplace.done("reset", "--yes")
        #expect(again.output.hasSuffix("nothing to do\n"))
        #expect(try workplace.records(of: workplace.topic("ledger")).count == records)
        // As after a crash in between: the offsets are moved, and the ledger holds a key.
        #expect(try workplace.importKeys(KeySamples.file([KeySamples.key(1)])).waitForEnd() == .exit(0))
        let rest = try workplace.done("reset", "--yes")
        #expect(rest.output.hasSuffix("done: offsets moved, 1 ledger record forgotten\n"), "\(rest.output)")
        #expect(try workplace.committed() == ends)
        #expect(try workplace.exported() == "")
    }

    @Test func `a run after a reset judges nothing twice, and after a reset to the beginning everything`() throws {
        let workplace = try ProgramWorkplace("rerun") { $0.membership = "dynamic" }
        try workplace.simulate(devices: 5, records: 40)
        _ = try workplace.work(until: 40)
        #expect(try workplace.hasMembers(0))
        try workplace.done("reset", "--yes")
        try workplace.simulate(devices: 5, records: 10, seed: 9)
        let worker = try workplace.work(until: 50)
        #expect(worker.error.contains(": 10 requests: "), "\(worker.error)")
        #expect(try Outcomes(of: workplace).counts == ["accepted": 50])
        #expect(try workplace.hasMembers(0))
        try workplace.done("reset", "--yes", "--to-beginning")
        let repeated = try workplace.work(until: 100)
        #expect(repeated.error.contains(": 50 requests: 50 accepted, "), "\(repeated.error)")
    }

    @Test func `of two commands that write at the same time the later one stops the earlier`() throws {
        let workplace = try ProgramWorkplace("fenced")
        let access = try workplace.access
        let records = (1...2 as ClosedRange<UInt8>).map {
            StoredRecord(partition: Int32($0), key: [99, $0], value: [1])
        }
        var rest = records[...]
        let (first, second) = (try LedgerWriter(access), try LedgerWriter(access))
        try first.open()
        let fault = #expect(throws: CommandFault.self) {
            try first.write(from: [0, 0, 0]) {
                guard rest.count < 2 else { return rest.popFirst() }
                try second.open()
                return nil
            }
        }
        // Whichever is seen first: that the producer is fenced, or the later command's mark in the ledger.
        let sentence = fault?.sentence ?? ""
        let reasons = ["another command took over the ledger", "another process wrote to fenced.ledger, partition 1"]
        #expect(reasons.contains(where: sentence.contains), "\(sentence)")
        let ends = try LedgerReader(access, partitions: workplace.partitions).readSettled { _ in }
        try second.write(from: ends) { rest.popFirst() }
        #expect(try workplace.liveLedgerKeys() == [2: [records[1].key]])
    }
}
