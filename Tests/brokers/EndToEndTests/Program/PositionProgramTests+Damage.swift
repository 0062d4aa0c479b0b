import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Pipeline
import Streams
import TestKit
import Testing

/// One bad record, or one bad batch on a disk, stays one.
extension PositionProgramTests {
    #if DEBUG
        @Test func `a record that crashes the worker becomes a dead letter after three tries, and affects no other`()
            throws
        {
            let workplace = try ProgramWorkplace("crashing")
            try workplace.simulate(devices: 10, records: 60)
            let before = try workplace.records(of: workplace.requests)
            // The devices' keys differ in each run, and so do their partitions.
            let guilty = try #require(before.last)
            let crash = "verifying/\(guilty.partition)/\(guilty.offset)/\(SIGSEGV)"
            let place = "partition \(guilty.partition), offset \(guilty.offset)"
            for attempt in 1...3 {
                let worker = try ProgramProcess(
                    ["run", "--config", workplace.config, "--instance", "one"],
                    in: workplace.folder,
                    environment: ["ATTEST_WORKER_CRASH": crash]
                )
                try #require(worker.waitForEnd() != nil, "\(worker.error)")
                if attempt > 1 { #expect(worker.error.contains(place), "\(worker.error)") }
            }
            let last = try workplace.work(until: 60)
            #expect(last.error.contains("ended this program 3 times"), "\(last.error)")
            let outcomes = try Outcomes(of: workplace)
            #expect(outcomes.counts == ["accepted": 59, "[internal]": 1])
            #expect(outcomes.summaries[RecordPlace(guilty)] == "[internal]")
            #expect(
                !(try workplace.work(until: 60)).error.contains("ended this program"),
                "it is forgotten once it is done"
            )
        }
    #endif

    @Test func `disk damage on the broker holds its partition, in ledger or requests; the third continues`() throws {
        let workplace = try ProgramWorkplace("damaged") { $0.membership = "dynamic" }
        try workplace.simulate(devices: 20, records: 120)
        _ = try workplace.work(until: 120)
        try workplace.simulate(devices: 20, records: 120, seed: 2)
        let all = try workplace.records(of: workplace.requests)
        let sound = all.count { $0.partition == 0 }
        try #require(sound > 10)
        // librdkafka goes on inside of a large damaged batch and takes a byte there for a version: 65.
        try workplace.put([PublishRecord(key: nil, value: [UInt8](repeating: 65, count: 500_000), partition: 2)])
        try Self.damage(workplace.topic("ledger"), partition: 1)
        try Self.damage(workplace.requests, partition: 2)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(worker.says("partition 1 is held"), "\(worker.error)")
        #expect(worker.says("partition 2 is held"), "\(worker.error)")
        #expect(
            worker.error.contains("import-keys")
                && worker.error.contains("reset --config DIR --offsets-only --partitions 2"),
            "\(worker.error)"
        )
        let answered = try Deadline.wait(60) {
            try workplace.records(of: workplace.topic("results")).count { $0.partition == 0 } >= sound
        }
        #expect(answered && worker.isRunning, "\(worker.error)")
        worker.expectEnd()
        let results = try workplace.records(of: workplace.topic("results"))
        #expect(results.count { $0.partition == 0 } == sound, "each once")
        try recover(workplace, partition: 1, requests: all.count { $0.partition == 1 })
    }

    /// The other partitions' keys move into a new ledger, and the damaged one's requests are answered too.
    private func recover(_ workplace: ProgramWorkplace, partition: Int32, requests: Int) throws {
        try #require(try workplace.hasMembers(0))
        let whole = try workplace.refused("export-keys")
        #expect(whole.error.hasSuffix("; --partitions leaves partition \(partition) out.\n"), "\(whole.error)")
        let others = (0..<workplace.partitions).filter { $0 != partition }.map(String.init).joined(separator: ",")
        let rest = try workplace.done("export-keys", "--partitions", others, "--output", workplace.file("rest.ndjson"))
        #expect(!rest.output.hasPrefix("0 keys"), "\(rest.output)")
        try RealClusterTrait.cluster?.deleteTopic(workplace.topic("ledger"))
        #expect(
            Deadline.wait(30) { (try? workplace.start("create-topics", "--partitions", "3"))?.waitForEnd() == .exit(0) }
        )
        try workplace.done("import-keys", "--input", workplace.file("rest.ndjson"))
        let reset = try workplace.done("reset", "--offsets-only", "--to-committed", "--yes")
        #expect(reset.output.hasSuffix("done: offsets moved, 3 marks set, the ledger is kept\n"), "\(reset.output)")
        let worker = try workplace.start("run", "--instance", "one")
        let isAnswered = try Deadline.wait(60) {
            try workplace.records(of: workplace.topic("results")).count { $0.partition == partition } >= requests
        }
        #expect(isAnswered && worker.isRunning, "\(worker.error)")
        worker.expectEnd()
    }

    /// Flips a bit in the newest batch of a partition, behind its header: the checksum is wrong from then on.
    private static func damage(_ topic: String, partition: Int32) throws {
        let broker = try #require(RealClusterTrait.cluster)
        let files = FileManager.default.enumerator(atPath: broker.folder.path)?.compactMap { $0 as? String } ?? []
        let name = try #require(files.first { $0.hasSuffix("/\(topic)-\(partition)/00000000000000000000.log") })
        let file = try FileHandle(forUpdating: broker.folder.appending(path: name))
        let end = try file.seekToEnd()
        try file.seek(toOffset: 0)
        let bytes = [UInt8](try file.read(upToCount: Int(end)) ?? Data())
        // A batch: base offset (8), length (4), then as many bytes. Markers are batches of their own, of 78 bytes.
        var (start, newest) = (0, 0)
        while start + 12 <= bytes.count {
            let length = bytes[(start + 8)..<(start + 12)].reduce(0) { $0 << 8 | Int($1) }
            if length > 100 { newest = start }
            start += 12 + length
        }
        let place = newest + 80
        try #require(place < bytes.count)
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: Data([bytes[place] ^ 1]))
        try file.close()
    }
}
