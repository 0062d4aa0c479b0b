import Broker
import BrokerKit
import ChaosKit
import Crypto
import Foundation
import Kafka
import KafkaKit
import Pipeline
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
    /// Requests of honest, faulty and hostile senders, and what the worker made of them.
    private func workedOff(_ prefix: String) throws -> (ProgramWorkplace, Outcomes) {
        let workplace = try ProgramWorkplace(prefix)
        try workplace.simulate(devices: 20, records: 200, faults: 0.3, seed: 1)
        try workplace.put(HostileRecord.all.map(\.record))
        try workplace.simulate(devices: 20, records: 200, faults: 0.3, seed: 2)
        let worker = try workplace.work(until: 400 + HostileRecord.all.count)
        #expect(worker.error.contains("\(400 + HostileRecord.all.count) requests: "), "\(worker.error)")
        return (workplace, try Outcomes(of: workplace))
    }

    @Test func `every record has exactly one outcome, the hostile ones too`() throws {
        let (_, outcomes) = try workedOff("outcomes")
        #expect(outcomes.requests.count == 400 + HostileRecord.all.count)
        let expected = HostileRecord.all.filter { $0.expected.hasPrefix("[") }
        #expect(outcomes.deadLetters.count == expected.count)
        let counts = outcomes.counts
        #expect(try #require(counts["accepted"]) > 200)
        #expect(counts.keys.count > 8, "faults of many kinds: \(counts)")
        for hostile in HostileRecord.all {
            // Equal records have equal outcomes, so any of them may stand for this one.
            let place = try #require(outcomes.requests.first { Self.isSame($0.value, hostile.record) }?.key)
            #expect(outcomes.summaries[place] == hostile.expected, "\(place)")
        }
        for (place, letter) in outcomes.deadLetters {
            let request = try #require(outcomes.requests[place])
            #expect(letter.key == request.key)
            #expect(Array(letter.headers.prefix(request.headers.count)) == request.headers)
            let added = letter.headers.dropFirst(request.headers.count).map { String(decoding: $0.name, as: UTF8.self) }
            let names = ["dlq.reason", "dlq.topic", "dlq.partition", "dlq.offset"]
            if letter.value == request.value {
                #expect(added == names)
            } else {
                // Only what the broker would not take together with the new headers is left out.
                #expect(letter.value == nil && (request.value?.count ?? 0) > 900_000)
                #expect(added == names + ["dlq.truncated", "dlq.sha256"])
                let digest = SHA256.hash(request.value ?? []).bytes.map { String(format: "%02x", $0) }.joined()
                #expect(letter.headers.last?.value == Array(digest.utf8))
            }
        }
        #expect(outcomes.deadLetters.values.count { $0.value == nil } == 3, "two null values and one too large")
    }

    private static func isSame(_ record: InboundRecord, _ put: PublishRecord) -> Bool {
        record.key == put.key && record.value == put.value
            && record.headers.map { RecordHeader(name: $0.name, value: $0.value) } == put.headers
    }

    @Test(.kcatTests)
    func `replay of a kcat capture writes the bytes that run wrote, and publish sends it again`() throws {
        let (workplace, outcomes) = try workedOff("replayed")
        try workplace.kcat("-C", "-e", "-q", "-J").write(to: URL(filePath: workplace.file("capture.ndjson")))
        try workplace.done("replay", "--input", workplace.file("capture.ndjson"), "--output", workplace.file("out"))
        for (stream, live) in [("results", outcomes.results), ("dead-letters", outcomes.deadLetters)] {
            let lines = try workplace.captured("out/\(stream).ndjson")
            #expect(lines.count == live.count)
            for line in lines {
                let written = try #require(live[RecordPlace(line)])
                #expect(written.key == line.key)
                if stream == "results" || written.value != nil { #expect(written.value == line.value) }
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

    @Test func `a record on the wrong partition for its key is a key mismatch`() throws {
        let workplace = try ProgramWorkplace("misplaced")
        let records = try workplace.simulated(devices: 20, records: 90)
        try workplace.put(
            records.map { record in
                let own = Partitioner.murmur2.partition(of: record.key ?? [], count: workplace.partitions)
                var put = PublishRecord(key: record.key, value: record.value, headers: record.headers)
                // Every third record lies one partition too far.
                if record.offset % 3 == 0 { put.partition = (own + 1) % workplace.partitions }
                return put
            }
        )
        _ = try workplace.work(until: records.count)
        let outcomes = try Outcomes(of: workplace)
        for (place, request) in outcomes.requests {
            let own = Partitioner.murmur2.partition(of: try #require(request.key), count: workplace.partitions)
            #expect((outcomes.summaries[place] == "key-mismatch") == (own != place.partition), "\(place)")
        }
        #expect(try #require(outcomes.counts["key-mismatch"]) > 10)
        #expect(try #require(outcomes.counts["accepted"]) > 10)
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
}
