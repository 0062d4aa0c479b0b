import BrokerKit
import Foundation
import JSON
import Kafka
import Pipeline
import Testing

/// A configuration of its own, made by the program itself, with topics and a group of its own on the suite's broker.
final class Workplace {
    static let partitions: Int32 = 3

    let path = FileManager.default.temporaryDirectory.path + "/workplace-" + UUID().uuidString
    let prefix: String
    let properties: KafkaProperties
    var config: String { path + "/config" }

    /// - Parameters:
    ///   - members: more members of worker.json.
    ///   - broker: nil = the suite's.
    init(_ prefix: String, members: String = "", broker: String? = nil, createsTopics: Bool = true) throws {
        self.prefix = prefix
        let servers = try broker ?? #require(RealKafkaTrait.broker?.bootstrapServers)
        properties = KafkaProperties([
            ("bootstrap.servers", servers), ("group.id", prefix), ("session.timeout.ms", "6000"),
            ("heartbeat.interval.ms", "500"), ("reconnect.backoff.max.ms", "500"),
        ])
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let made = try run("simulate", "--new-config", "--devices", "1", "--records", "1", "--output", file("unused"))
        try #require(made.exitCode() == 0, "\(made.error)")
        try rewrite("worker.json") { worker in
            worker.replacing("appattest.", with: prefix + ".")
                .replacing("\"anchors\"", with: members.isEmpty ? "\"anchors\"" : members + ",\n\"anchors\"")
        }
        try write(properties.pairs.map { "\($0.name)=\($0.value)\n" }.joined(), to: "config/kafka.properties")
        guard createsTopics else { return }
        let topics = try run("create-topics", "--partitions", String(Self.partitions))
        try #require(topics.exitCode() == 0, "\(topics.output) \(topics.error)")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Starts a command on this configuration.
    func run(_ command: String, _ arguments: String...) throws -> WorkerProcess {
        try WorkerProcess([command, "--config", config] + arguments, folder: path)
    }

    /// Runs a command to its end, which must be exit code 0.
    @discardableResult
    func done(_ arguments: String..., location: SourceLocation = #_sourceLocation) throws -> WorkerProcess {
        let process = try WorkerProcess([arguments[0], "--config", config] + arguments.dropFirst(), folder: path)
        let code = process.exitCode(location)
        try #require(code == 0, "\(arguments[0]): \(process.error)", sourceLocation: location)
        return process
    }

    /// Publishes the traffic of fake devices.
    func publish(devices: Int, records: Int, faults: Double = 0, seed: Int = 1) throws {
        try done(
            "simulate",
            "--devices",
            String(devices),
            "--records",
            String(records),
            "--faults",
            String(faults),
            "--seed",
            String(seed),
            "--publish"
        )
    }

    /// Runs the worker until so many outcomes are there, then asks it to end, which must be exit code 0.
    func work(until outcomes: Int, location: SourceLocation = #_sourceLocation) throws -> WorkerProcess {
        let worker = try run("run", "--instance", "one")
        #expect(try waits(for: outcomes, of: worker), "\(worker.error)", sourceLocation: location)
        worker.signal(SIGTERM)
        #expect(worker.exitCode(location) == 0, "\(worker.error)", sourceLocation: location)
        return worker
    }

    /// Waits for committed outcomes, as long as the worker runs.
    func waits(for outcomes: Int, of worker: WorkerProcess, seconds: Int = 60) throws -> Bool {
        try waits(for: outcomes, of: [worker], seconds: seconds)
    }

    /// Waits for committed outcomes, as long as all workers run.
    func waits(for outcomes: Int, of workers: [WorkerProcess], seconds: Int = 60) throws -> Bool {
        let readers = try [OutputTopic.results, .deadLetters].map {
            let reader = try Consumer(properties, topic: topic($0))
            try reader.assign(
                (0..<Self.partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) }
            )
            return reader
        }
        var count = 0
        _ = try wait(seconds) {
            for reader in readers {
                while let event = try reader.poll(timeoutMilliseconds: 10) {
                    if case .record = event { count += 1 }
                }
            }
            return count >= outcomes || !workers.allSatisfy(\.isRunning)
        }
        return count >= outcomes
    }

    func file(_ name: String) -> String { path + "/" + name }

    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: file(name)))) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(filePath: file(name))) }

    func rewrite(_ name: String, _ change: (String) -> String) throws {
        try write(change(String(decoding: bytes("config/" + name), as: UTF8.self)), to: "config/" + name)
    }
}

// MARK: - Topics

extension Workplace {
    var requests: String { prefix + ".requests" }

    func topic(_ stream: OutputTopic) -> String {
        prefix + "." + (stream == .deadLetters ? "dead-letters" : stream.rawValue)
    }

    /// Everything that a topic holds, partition by partition.
    func records(of topic: String, partitions: Int32 = Workplace.partitions) throws -> [KafkaRecord] {
        var properties = properties
        properties["enable.partition.eof"] = "true"
        let consumer = try Consumer(properties, topic: topic)
        try consumer.assign((0..<partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        var records: [KafkaRecord] = []
        var open = Set(0..<partitions)
        while !open.isEmpty, let event = try consumer.poll(timeoutMilliseconds: 10_000) {
            if case .record(let record) = event { records.append(record) }
            if case .endOfPartition(let end) = event { open.remove(end.partition) }
        }
        #expect(open.isEmpty, "\(topic) was not read to its end")
        return records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
    }

    /// Puts records onto the requests topic, each on the partition of its key unless another one is given.
    func put(_ records: [PutRecord]) throws {
        let producer = try Producer(properties)
        for record in records {
            let own = record.key.map { Partitioner.murmur2.partition(of: $0, count: Self.partitions) } ?? 0
            try producer.produce(
                topic: requests,
                partition: record.partition ?? own,
                key: record.key,
                value: record.value,
                headers: record.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
            )
        }
        try producer.flush(timeoutMilliseconds: 30_000)
    }

    /// What `kcat -C -J` takes of the requests topic.
    func capture(to name: String) throws {
        try kcat("-C", "-e", "-q", "-J").write(to: URL(filePath: file(name)))
    }

    /// Runs kcat on the requests topic. - Returns: what it printed.
    @discardableResult
    func kcat(_ arguments: String...) throws -> Data {
        let program: URL = try #require(KafkaInstallation.executable("kcat"))
        let servers = try #require(properties["bootstrap.servers"])
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = ["-b", servers, "-t", requests] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return bytes
    }
}

/// A record for the requests topic.
struct PutRecord {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader] = []
    /// nil = where its key belongs.
    var partition: Int32?
}
