import Broker
import BrokerKit
import Foundation
import Kafka
import Pipeline
import Settings
import Streams
import TestKit
import Testing

@testable import Commands

extension ProgramWorkplace {
    /// Takes the configuration of another workplace, with these topics and this group.
    fileprivate func adopt(_ other: ProgramWorkplace) throws {
        try FileManager.default.removeItem(atPath: config)
        try FileManager.default.copyItem(atPath: other.config, toPath: config)
        try rewrite("worker.json") { $0.replacing("\"\(other.options.prefix).", with: "\"\(options.prefix).") }
        try rewrite("kafka.properties") { $0.replacing("group.id=\(other.group)", with: "group.id=\(group)") }
    }

    /// All requests of another workplace, under other ids.
    fileprivate func again(_ other: ProgramWorkplace) throws -> Int {
        let requests = try other.records(of: other.requests)
        try put(
            requests.enumerated().map { number, record in
                PublishRecord(
                    key: record.key,
                    value: record.value,
                    headers: [RecordHeader("request-id", "again-\(number)")]
                )
            }
        )
        return requests.count
    }
}

extension LedgerProgramTests {
    @Test func `partitions that were added hold all of them, and a move accepts nothing that was used`() throws {
        let old = try ProgramWorkplace("outgrown") { $0.membership = "dynamic" }
        try old.simulate(devices: 20, records: 200, verbs: ProgramWorkplace.verbsOfKeys)
        _ = try old.work(until: 200)
        let used = try Outcomes(of: old).counts
        #expect(try old.hasMembers(0))
        let cluster = try #require(RealClusterTrait.cluster)
        try cluster.addPartitions(4, to: ProgramWorkplace.streams.map(old.topic))
        // The program says so wherever it meets it.
        for (command, arguments) in [
            ("run", ["--check"]), ("reset", ["--offsets-only", "--to-committed"]),
            ("ban", ["--installation", "fid-1"]), ("requeue", []),
        ] {
            let process = try old.refused(command, arguments)
            #expect(process.error.contains("placed on 3 partitions and the topics have 4"), "\(process.error)")
        }
        let held = try old.start("run", "--instance", "one")
        #expect(held.says("placed on 3 partitions", times: 4), "\(held.error)")
        held.expectEnd()
        #expect(try Outcomes(of: old).counts == used)
        #expect(try old.hasMembers(0))
        try move(old, used)
    }

    private func move(_ old: ProgramWorkplace, _ used: [String: Int]) throws {
        let new = try ProgramWorkplace("grown-into") { ($0.membership, $0.partitions) = ("dynamic", 5) }
        try new.adopt(old)
        let plan = try old.done("move", "--to", new.config)
        #expect(plan.output.contains("nothing was changed; --yes carries out the plan"), "\(plan.output)")
        #expect(try new.records(of: new.topic("ledger")).isEmpty)
        let done = try old.done("move", "--to", new.config, "--yes")
        #expect(done.output.contains("5 partitions: 20 keys"), "\(done.output)")
        #expect(try old.done("move", "--to", new.config, "--yes").output.contains("nothing to do"))
        #expect(try old.refused("run", "--check").error.contains("were moved to another one"))
        try new.done("run", "--check")
        let count = try new.again(old)
        _ = try new.work(until: count)
        let outcomes = try Outcomes(of: new).counts
        #expect(outcomes["accepted"] == nil, "\(outcomes)")
        #expect(outcomes.values.reduce(0, +) == count)
        // Another target, and one that is in use, are refused.
        let third = try ProgramWorkplace("grown-twice") { ($0.membership, $0.partitions) = ("dynamic", 2) }
        try third.adopt(old)
        #expect(try old.refused("move", "--to", third.config, "--yes").error.contains("were moved to another one"))
        #expect(try old.refused("move", "--to", new.config, "--yes").error.contains("has records already"))
        // One that another move had begun before: its keys would count twice.
        try third.putLedger((0..<2).map { StoredRecord(.mark(PartitionMark(partitions: 0, move: [1])), on: $0) })
        #expect(try old.refused("move", "--to", third.config, "--yes").error.contains("were moved to another one"))
    }

    @Test func `a move is refused while requests are unread, and an interrupted one holds both ledgers until it ends`()
        throws
    {
        let old = try ProgramWorkplace("unread") { $0.membership = "dynamic" }
        try old.simulate(devices: 10, records: 60)
        _ = try old.work(until: 60)
        #expect(try old.hasMembers(0))
        try old.simulate(devices: 10, records: 12, seed: 2)
        let new = try ProgramWorkplace("left-behind") { ($0.membership, $0.partitions) = ("dynamic", 4) }
        try new.adopt(old)
        let unread = try old.refused("move", "--to", new.config, "--yes").error
        #expect(unread.contains("12 requests of unread.requests are unread"))
        // As after a crash between the first marks and the last ones: a key of an earlier attempt is there.
        let key = KeySamples.key(9)
        let stale = StoredRecord(.key(key.keyID, KeyTable.record(of: key)), on: 1)
        try new.putLedger(
            (0..<4).map { StoredRecord(.mark(PartitionMark(partitions: 0)), on: $0) }
                + [stale]
        )
        #expect(try new.refused("run", "--check").error.contains("not all of them are here"))
        let held = try new.start("run", "--instance", "one")
        #expect(held.says("not all of them are here", times: 4), "\(held.error)")
        held.expectEnd()
        #expect(try new.hasMembers(0))
        try old.done("move", "--to", new.config, "--leave-requests", "--yes")
        #expect(try new.liveLedgerKeys().values.allSatisfy { !$0.contains(stale.key) })
        _ = try new.again(old)
        _ = try new.work(until: 72)
        // The 12 that were left are judged for the first time here.
        #expect(try Outcomes(of: new).counts["accepted"] == 12)
    }
}
