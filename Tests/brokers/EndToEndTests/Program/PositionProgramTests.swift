import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Pipeline
import Streams
import TestKit
import Testing

/// Positions that a careless operator has made disagree, and the way out that the worker names.
@Suite(
    "The program's positions on a real broker",
    .brokerTests,
    .cluster(isLong: true),
    .serialized
)
struct PositionProgramTests {
    /// A workplace whose 40 requests are answered, with the group empty.
    private func worked(_ prefix: String) throws -> ProgramWorkplace {
        // Members that leave at once.
        let workplace = try ProgramWorkplace(prefix) { $0.membership = "dynamic" }
        // So many keys that no partition is without one: their ids are other ones in each run.
        try workplace.simulate(devices: 30, records: 40)
        _ = try workplace.work(until: 40)
        #expect(try workplace.hasMembers(0))
        return workplace
    }

    /// Runs the worker until it holds all partitions: nothing is answered meanwhile.
    private func holds(_ workplace: ProgramWorkplace, _ reason: String, outcomes: Int) throws {
        let worker = try workplace.start("run", "--instance", "one")
        let areHeld = Deadline.wait(60) {
            let lines = worker.error.split(separator: "\n").filter { $0.contains(" is held, the others go on: ") }
            return lines.count { $0.contains(reason) } >= Int(workplace.partitions) || !worker.isRunning
        }
        #expect(areHeld && worker.isRunning, "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        #expect(worker.error.contains(": 0 requests: "), "\(worker.error)")
        #expect(try answered(workplace) == outcomes)
        #expect(try workplace.hasMembers(0))
    }

    private func answered(_ workplace: ProgramWorkplace) throws -> Int {
        try workplace.records(of: workplace.topic("results")).count
            + workplace.records(of: workplace.topic("dead-letters")).count
    }

    /// Where the partitions of requests end, in order.
    private func ends(_ workplace: ProgramWorkplace) throws -> [Int64] {
        try TopicDump.ends(of: workplace.requests, workplace.properties, partitions: workplace.partitions)
            .sorted { $0.key < $1.key }.map(\.value.committed)
    }

    private func groups(_ workplace: ProgramWorkplace, _ arguments: String...) throws {
        let broker = try #require(RealClusterTrait.cluster)
        try broker.tool(
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            ["--bootstrap-server", broker.bootstrapServers, "--group", workplace.group] + arguments
        )
    }

    @Test func `offsets carry the worker's metadata, and each partition's mark its progress, also for refusals alone`()
        throws
    {
        let workplace = try ProgramWorkplace("marked")
        try workplace.put([PutRecord(key: Array("nobody".utf8), value: Array("no request".utf8), partition: 1)])
        _ = try workplace.work(until: 1)
        let admin = try Admin(workplace.properties)
        let found = try admin.committedOffsets(ofGroup: "marked", topic: workplace.requests, partitions: [0, 1, 2])
        #expect(found.map(\.offset) == [nil, 1, nil])
        #expect(found[1].metadata == Array("attest-worker/1".utf8) && found[0].metadata.isEmpty)
        let ledger = try workplace.records(of: workplace.topic("ledger"))
        let marks = try ledger.map { try LedgerCodec.decode(key: $0.key ?? [], value: $0.value) }
        let group = Array("marked".utf8)
        guard case .mark(let mark)? = marks.first, marks.count == 1 else {
            Issue.record("\(marks)")
            return
        }
        let position = PositionMark(
            appliedOffset: 1,
            group: group,
            delivery: .transaction,
            writer: Array("marked-one".utf8),
            partitions: workplace.partitions
        )
        #expect(mark.position == position)
    }

    @Test func `deleted offsets hold their partitions until a reset takes the ledger's`() throws {
        let workplace = try worked("deleted")
        try groups(workplace, "--delete-offsets", "--topic", workplace.requests)
        try workplace.simulate(devices: 6, records: 10, seed: 9)
        try holds(workplace, "the group has no offset", outcomes: 40)
        let plan = try workplace.done("reset", "--offsets-only", "--to-applied")
        #expect(plan.output.hasSuffix("nothing was changed; --yes carries out the plan\n"), "\(plan.output)")
        let keys = try workplace.exported()
        let reset = try workplace.done("reset", "--offsets-only", "--to-applied", "--yes")
        #expect(reset.output.hasSuffix("done: offsets moved, 3 marks set, the ledger is kept\n"), "\(reset.output)")
        #expect(try workplace.exported() == keys && !keys.isEmpty)
        _ = try workplace.work(until: 50)
        #expect(try Outcomes(of: workplace).counts == ["accepted": 50])
    }

    @Test func `an offset that was moved back manually holds its partition`() throws {
        let workplace = try worked("moved")
        try groups(workplace, "--reset-offsets", "--topic", workplace.requests, "--to-offset", "1", "--execute")
        try workplace.simulate(devices: 6, records: 10, seed: 9)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(worker.says("the group's offset was moved back to 1, ", seconds: 60), "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        #expect(try answered(workplace) < 50, "a partition that had but one request may go on")
        #expect(try workplace.hasMembers(0))
        try workplace.done("reset", "--offsets-only", "--partitions", "0-2", "--to-applied", "--yes")
        _ = try workplace.work(until: 50)
        #expect(try Outcomes(of: workplace).counts == ["accepted": 50])
    }

    @Test func `a recreated requests topic is neither skipped nor read before a reset`() throws {
        let workplace = try worked("again")
        try RealClusterTrait.cluster?.deleteTopic(workplace.requests)
        #expect(
            Deadline.wait(30) { (try? workplace.start("create-topics", "--partitions", "3"))?.waitForEnd() == .exit(0) }
        )
        try workplace.simulate(devices: 6, records: 10, seed: 9)
        try holds(workplace, "the requests topic was recreated", outcomes: 40)
        try workplace.done("reset", "--offsets-only", "--to-beginning", "--yes")
        _ = try workplace.work(until: 50)
        #expect(try answered(workplace) == 50)
    }

    @Test func `requests that retention took unread are counted, and the rest is answered`() throws {
        let workplace = try worked("overtaken")
        let before = try ends(workplace).reduce(0, +)
        #expect(before == 40)
        try workplace.simulate(devices: 30, records: 60, seed: 9)
        let broker = try #require(RealClusterTrait.cluster)
        let ends = try ends(workplace)
        // All but each partition's last request.
        let places = ends.enumerated().map { partition, end in
            "{\"topic\": \"\(workplace.requests)\", \"partition\": \(partition), \"offset\": \(end - 1)}"
        }
        try workplace.write("{\"partitions\": [\(places.joined(separator: ","))], \"version\": 1}", to: "taken.json")
        try broker.tool(
            "org.apache.kafka.tools.DeleteRecordsCommand",
            ["--bootstrap-server", broker.bootstrapServers, "--offset-json-file", workplace.file("taken.json")]
        )
        let worker = try workplace.work(until: 43)
        let lines = worker.error.split(separator: "\n").filter { $0.contains("retention deleted up to ") }
        #expect(lines.count == 3 && !worker.error.contains("is held"), "\(worker.error)")
        let taken = lines.compactMap { line in
            line.split(separator: "up to ").last.flatMap { Int($0.prefix { $0.isNumber }) }
        }
        #expect(taken.reduce(0, +) == 60 - 3, "\(lines)")
        #expect(try answered(workplace) == 43)
    }

    @Test func `an emptied ledger accepts no request a second time`() throws {
        let workplace = try worked("emptied")
        let keys = try workplace.exported()
        try workplace.write(keys, to: "keys.ndjson")
        try RealClusterTrait.cluster?.deleteTopic(workplace.topic("ledger"))
        #expect(
            Deadline.wait(30) { (try? workplace.start("create-topics", "--partitions", "3"))?.waitForEnd() == .exit(0) }
        )
        // A capture of old requests, published again.
        try workplace.simulate(devices: 30, records: 40)
        try holds(workplace, "the ledger has no state for it", outcomes: 40)
        try workplace.done("import-keys", "--input", workplace.file("keys.ndjson"))
        try workplace.done("reset", "--offsets-only", "--to-committed", "--yes")
        #expect(try workplace.exported() == keys)
        _ = try workplace.work(until: 80)
        #expect(try answered(workplace) == 80)
    }

    @Test func `a renamed group continues only where its ledger says`() throws {
        let workplace = try worked("renamed")
        try workplace.simulate(devices: 6, records: 10, seed: 9)
        try workplace.rewrite("kafka.properties") { $0.replacing("group.id=renamed", with: "group.id=renamed-once") }
        let worker = try workplace.start("run", "--instance", "one")
        #expect(worker.says("group renamed has written this ledger", seconds: 60), "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0))
        #expect(try answered(workplace) == 40)
        try workplace.done("reset", "--offsets-only", "--to-applied", "--yes")
        _ = try workplace.work(until: 50)
        #expect(try Outcomes(of: workplace).counts == ["accepted": 50])
    }

    @Test func `a worker uses imported keys, and no partition is held`() throws {
        let workplace = try ProgramWorkplace("imported-first")
        #expect(try workplace.importKeys(KeySamples.file(KeySamples.variety)).waitForEnd() == .exit(0))
        try workplace.simulate(devices: 6, records: 20)
        let worker = try workplace.work(until: 20)
        #expect(!worker.error.contains("is held"), "\(worker.error)")
        #expect(try Outcomes(of: workplace).counts == ["accepted": 20])
    }
}
