import BrokerKit
import ChaosKit
import Crypto
import Foundation
import Kafka
import Streams
import TestKit
import Testing

/// The built program on a real broker, from its command line to its exit code. One broker for all of them.
@Suite(
    "The program on a real broker",
    .brokerTests,
    .cluster(isLong: true),
    .serialized
)
struct WorkProgramTests {
    @Test(.kcatTests)
    func `replay of a kcat capture writes the bytes that run wrote, and publish sends it again`() throws {
        let workplace = try ProgramWorkplace("replayed")
        // Of honest, faulty and hostile senders.
        try workplace.publish(2_000, faultShare: 0.3)
        _ = try workplace.work(until: 2_000)
        let outcomes = try Outcomes(of: workplace)
        #expect(outcomes.counts.count > 8 && outcomes.deadLetters.count > 3, "\(outcomes.counts)")
        try workplace.kcat("-C", "-e", "-q", "-J").write(to: URL(filePath: workplace.file("capture.ndjson")))
        try workplace.done("replay", "--input", workplace.file("capture.ndjson"), "--output", workplace.file("out"))
        for (stream, live) in [("results", outcomes.results), ("dead-letters", outcomes.deadLetters)] {
            let lines = try workplace.captured("out/\(stream).ndjson")
            #expect(lines.count == live.count)
            for line in lines {
                let written = try #require(live[RecordPlace(line)])
                #expect(written.key == line.key && written.value == line.value)
            }
        }
        for name in ["tokens", "events"] { #expect(try workplace.bytes("out/\(name).ndjson") == []) }

        let again = try ProgramWorkplace("published")
        try again.done("publish", "--input", workplace.file("capture.ndjson"))
        let copies = try again.records(of: again.requests)
        #expect(Self.contents(copies) == Self.contents(Array(outcomes.requests.values)))
        for record in copies {
            guard let key = record.key else { continue }
            #expect(record.partition == Partitioner.murmur2.partition(of: key, count: workplace.partitions))
        }
    }

    /// Keys, values and headers, in an order that does not depend on the partitions of records without a key.
    private static func contents(_ records: [InboundRecord]) -> [String] {
        records.map { "\($0.key as Any) \(SHA256.hash($0.value ?? []).bytes) \($0.value?.count as Any) \($0.headers)" }
            .sorted()
    }

    @Test(.kcatTests)
    func `with crc32 the records of kcat's own partitioner are accepted`() throws {
        let workplace = try ProgramWorkplace("kcat") { $0.members = #""partitioner": "crc32","# }
        let records = try workplace.simulated(devices: 20, records: 90)
        let lines = records.map { Array($0.key ?? []) + [0x09] + ($0.value ?? []) + [0x0A] }
        try Data(lines.joined()).write(to: URL(filePath: workplace.file("lines")))
        try workplace.kcat("-P", "-K", "\t", "-l", workplace.file("lines"))
        _ = try workplace.work(until: records.count)
        let outcomes = try Outcomes(of: workplace)
        #expect(outcomes.counts == ["accepted": records.count])
        let moved = outcomes.requests.values.filter {
            $0.partition != Partitioner.murmur2.partition(of: $0.key ?? [], count: workplace.partitions)
        }
        #expect(!moved.isEmpty, "murmur2 would have refused some of them")
    }

    @Test func `of two runs with one name one ends with a line that names the remedy, the other does the work`()
        throws
    {
        let workplace = try ProgramWorkplace("namesake") { $0.members = #""batch": {"records": 20},"# }
        let all = try workplace.simulated(devices: 20, records: 600)
        let workers = try (0..<2).map { _ in try workplace.start("run", "--instance", "same") }
        for part in 0..<20 where workers.allSatisfy(\.isRunning) {
            try workplace.put(Array(all[(part * 30)..<(part * 30 + 30)]))
            _ = Deadline.wait(2) { !workers.allSatisfy(\.isRunning) }
        }
        #expect(Deadline.wait(60) { workers.count(where: \.isRunning) == 1 }, "\(workers.map(\.error))")
        let ended = try #require(workers.first { !$0.isRunning })
        #expect(ended.waitForEnd() == .exit(1))
        let last = ended.error.split(separator: "\n").last.map(String.init) ?? ""
        #expect(last.contains(" error stopped: the broker ended the work: another process "), "\(ended.error)")
        #expect(last.contains("namesake-same") && last.contains("--instance"), "\(last)")
        let rest = all.count - (try workplace.records(of: workplace.requests).count)
        try workplace.put(Array(all.suffix(rest)))
        let other = try #require(workers.first { $0.isRunning }, "\(workers.map(\.error))")
        #expect(try workplace.hasOutcomes(600, of: [other]), "\(other.error)")
        other.expectEnd()
        #expect(try Outcomes(of: workplace).counts == ["accepted": 600])
    }

    @Test func `simulate with live clients sends the requested number of calls, and all are answered`() throws {
        let workplace = try ProgramWorkplace("live")
        let worker = try workplace.start("run", "--instance", "one")
        let live = try workplace.done("simulate", "--publish", "--live", "--devices", "10", "--records", "150")
        #expect(live.output.hasPrefix("150 calls of 10 stock clients: "), "\(live.output)")
        #expect(live.output.contains("10 by attestation") && live.output.contains("refused: none"), "\(live.output)")
        worker.expectEnd()
        #expect(try Outcomes(of: workplace).counts == ["accepted": 150])
    }
}
