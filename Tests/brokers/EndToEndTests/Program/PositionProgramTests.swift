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

    @Test func `deleted offsets hold their partitions until a reset takes the ledger's`() throws {
        let workplace = try worked("deleted")
        let broker = try #require(RealClusterTrait.cluster)
        try broker.tool(.groups, "--group", workplace.group, "--delete-offsets", "--topic", workplace.requests)
        try workplace.simulate(devices: 6, records: 10, seed: 9)
        let worker = try workplace.start("run", "--instance", "one")
        let count = Int(workplace.partitions)
        #expect(worker.says("and the group has no offset: ", times: count, seconds: 60), "\(worker.error)")
        #expect(worker.errors(" is held, the others go on: ") == count && worker.isRunning, "\(worker.error)")
        worker.expectEnd()
        #expect(worker.requests == 0, "\(worker.error)")
        #expect(try workplace.hasMembers(0))
        let plan = try workplace.done("reset", "--offsets-only", "--to-applied")
        #expect(plan.output.hasSuffix("nothing was changed; --yes carries out the plan\n"), "\(plan.output)")
        let keys = try workplace.exported()
        let reset = try workplace.done("reset", "--offsets-only", "--to-applied", "--yes")
        #expect(reset.output.hasSuffix("done: offsets moved, 3 marks set, the ledger is kept\n"), "\(reset.output)")
        #expect(try workplace.exported() == keys && !keys.isEmpty)
        _ = try workplace.work(until: 50)
        #expect(try Outcomes(of: workplace).counts == ["accepted": 50])
    }

    @Test func `requests that retention took unread are counted, and the rest is answered`() throws {
        let workplace = try worked("overtaken")
        try workplace.simulate(devices: 30, records: 60, seed: 9)
        let broker = try #require(RealClusterTrait.cluster)
        let partitions = workplace.partitions
        // All but each partition's last request.
        let places = try TopicDump.ends(of: workplace.requests, workplace.properties, partitions: partitions)
            .map { #"{"topic": "\#(workplace.requests)", "partition": \#($0), "offset": \#($1.committed - 1)}"# }
        try workplace.write(#"{"partitions": [\#(places.joined(separator: ","))], "version": 1}"#, to: "taken.json")
        try broker.tool(.records, "--offset-json-file", workplace.file("taken.json"))
        let worker = try workplace.work(until: 43)
        let lines = worker.error.split(separator: "\n").filter { $0.contains("retention deleted up to ") }
        #expect(lines.count == 3 && !worker.error.contains("is held"), "\(worker.error)")
        let taken = lines.compactMap { line in
            line.split(separator: "up to ").last.flatMap { Int($0.prefix { $0.isNumber }) }
        }
        #expect(taken.reduce(0, +) == 60 - 3, "\(lines)")
        #expect(worker.requests == 3, "\(worker.error)")
    }
}
