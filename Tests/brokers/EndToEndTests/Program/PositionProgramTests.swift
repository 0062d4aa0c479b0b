import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Pipeline
import Streams
import TestKit
import Testing

/// Requests that retention has taken, and records that end a worker or that a disk has damaged.
@Suite(
    "The program's positions on a real broker",
    .brokerTests,
    .cluster(isLong: true),
    .serialized
)
struct PositionProgramTests {
    @Test func `requests that retention took unread are counted, and the rest is answered`() throws {
        // Members that leave at once.
        let workplace = try ProgramWorkplace("overtaken") { $0.membership = "dynamic" }
        // So many keys that no partition is without one: their ids are other ones in each run.
        try workplace.simulate(devices: 30, records: 40)
        _ = try workplace.work(until: 40)
        #expect(try workplace.hasMembers(0))
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
