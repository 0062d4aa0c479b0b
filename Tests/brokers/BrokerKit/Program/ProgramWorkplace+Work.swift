package import Broker
internal import Foundation
internal import Kafka
internal import KafkaPorts
package import Streams
internal import TestKit
package import Testing

extension ProgramWorkplace {
    /// Changes a file of the configuration, or of a copy of it.
    package func rewrite(_ name: String, of config: String = "config", _ change: (String) -> String) throws {
        let name = "\(config)/\(name)"
        try write(change(text(name)), to: name)
    }

    /// A copy of the configuration under another name. - Returns: its path.
    @discardableResult
    package func copyConfig(as name: String) throws -> String {
        try FileManager.default.copyItem(atPath: config, toPath: file(name))
        return file(name)
    }

    /// Starts a command on this configuration.
    package func start(_ command: String, _ arguments: String...) throws -> ProgramProcess {
        try start(command, arguments)
    }

    package func start(_ command: String, _ arguments: [String]) throws -> ProgramProcess {
        try ProgramProcess([command, "--config", config] + arguments, in: folder)
    }

    /// Runs a command on this configuration to its end, which must be exit code 0.
    @discardableResult
    package func done(_ command: String, _ arguments: String..., seconds: Int = 60) throws -> ProgramProcess {
        try done(command, arguments, seconds: seconds)
    }

    @discardableResult
    package func done(_ command: String, _ arguments: [String], seconds: Int = 60) throws -> ProgramProcess {
        try WorkerBinary.done([command, "--config", config] + arguments, in: folder, seconds: seconds)
    }

    /// Publishes the traffic of fake devices, as the program makes it.
    package func simulate(devices: Int, records: Int, faults: Double = 0, seed: Int = 1, verbs: String? = nil) throws {
        try done("simulate", Self.load(devices, records, faults, verbs) + ["--seed", String(seed), "--publish"])
    }

    /// The options of `simulate` for a load; verbs as it takes them, nil = its own.
    package static func load(_ devices: Int, _ records: Int, _ faults: Double, _ verbs: String?) -> [String] {
        ["--devices", String(devices), "--records", String(records), "--faults", String(faults)]
            + (verbs.map { ["--verbs", $0] } ?? [])
    }

    /// Runs the worker until so many outcomes are there, then asks it to end, which must be exit code 0.
    package func work(until outcomes: Int, location: SourceLocation = #_sourceLocation) throws -> ProgramProcess {
        let worker = try start("run", "--instance", "one")
        #expect(try hasOutcomes(outcomes, of: [worker]), "\(worker.error)", sourceLocation: location)
        worker.expectEnd(location: location)
        return worker
    }

    /// A watch that finds out when every request is answered and committed.
    package func drainWatch() -> DrainWatch { DrainWatch(properties, requests, partitions) }

    /// Waits until every request is answered and committed.
    ///
    /// - Parameter seconds: without a commit.
    package func drains(seconds: Int = 60, while isWorking: () -> Bool = { true }) throws -> Bool {
        let watch = drainWatch()
        var isDone = false
        _ = try eventually(seconds: seconds) {
            isDone = try watch.isDrained()
            return watch.committed
        } until: { _ in
            isDone || !isWorking()
        }
        if !isDone { print("\(requests) is not drained: \(watch.obstacle)") }
        return isDone
    }

    /// Waits for so many committed results and dead letters, as long as all these workers run.
    ///
    /// - Parameter seconds: without one more, and without progress of a worker.
    package func hasOutcomes(_ count: Int, of workers: [ProgramProcess], seconds: Int = 60) throws -> Bool {
        let readers = try ["results", "dead-letters"].map { try reader(of: topic($0)) }
        var found = 0
        _ = eventually(seconds: seconds) {
            for reader in readers {
                while let event = reader.poll(waiting: 10) {
                    if case .record = event { found += 1 }
                }
            }
            return Outlook(found: found, workers: workers.map(\.progress))
        } until: { _ in
            found >= count || !workers.allSatisfy(\.isRunning)
        }
        return found >= count
    }

    private struct Outlook: Equatable {
        var found: Int
        var workers: [ProcessProgress]
    }

    private func reader(of topic: String) throws -> Consumer {
        let reader = try Consumer(properties.completed(defaults: [("fetch.wait.max.ms", "10")]), topic: topic)
        try reader.assign((0..<partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        return reader
    }

    /// Puts records onto a topic, each on the partition of its key unless another one is given.
    ///
    /// - Parameter topic: nil = the requests.
    package func put(_ records: [PublishRecord], to topic: String? = nil) throws {
        let producer = try Producer(properties)
        for record in records {
            let own = record.key.map { Partitioner.murmur2.partition(of: $0, count: partitions) } ?? 0
            try producer.produce(
                topic: topic ?? requests,
                partition: record.partition ?? own,
                key: record.key,
                value: record.value,
                headers: record.headers
            )
        }
        try producer.flush(timeoutMilliseconds: 60_000)
    }

    /// Waits until no open transaction holds back a stream's readers: the broker answers a commit a moment before it writes the
    /// markers, and aborts a dead worker's transaction after its time-out.
    package func settles(_ stream: String) throws -> Bool {
        try eventually {
            try ends(of: topic(stream))
        } until: {
            !$0.values.contains(where: \.isOpen)
        }
    }

    /// Each partition's ends; ``TopicDump/Ends/unseen`` is not counted.
    package func ends(of topic: String) throws -> [Int32: TopicDump.Ends] {
        try TopicDump.ends(of: topic, properties, partitions: partitions)
    }

    /// Every committed record of a topic, partition by partition.
    package func records(of topic: String) throws -> [InboundRecord] {
        var records: [InboundRecord] = []
        try TopicDump.read(topic, properties, partitions: partitions) { records.append($0) }
        return records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
    }
}

extension ProgramProcess {
    /// Asks the process to end, which must be exit code 0.
    ///
    /// - Parameter number: nil = SIGTERM.
    package func expectEnd(
        on number: Int32? = nil,
        seconds: Int = 30,
        location: SourceLocation = #_sourceLocation
    ) {
        signal(number ?? SIGTERM)
        #expect(waitForEnd(seconds: seconds) == .exit(0), "\(output) \(error)", sourceLocation: location)
    }
}
