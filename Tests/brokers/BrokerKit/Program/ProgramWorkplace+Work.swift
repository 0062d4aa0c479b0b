internal import Foundation
package import Kafka
internal import KafkaPorts
internal import TestKit
package import Testing

extension ProgramWorkplace {
    /// Changes a file of the configuration.
    package func rewrite(_ name: String, _ change: (String) -> String) throws {
        let file = URL(filePath: config + "/" + name)
        try Data(change(String(contentsOf: file, encoding: .utf8)).utf8).write(to: file)
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
    package func simulate(devices: Int, records: Int, faults: Double = 0, seed: Int = 1) throws {
        let load = ["--devices", String(devices), "--records", String(records), "--faults", String(faults)]
        try done("simulate", load + ["--seed", String(seed), "--publish"])
    }

    /// Runs the worker until so many outcomes are there, then asks it to end, which must be exit code 0.
    package func work(until outcomes: Int, location: SourceLocation = #_sourceLocation) throws -> ProgramProcess {
        let worker = try start("run", "--instance", "one")
        #expect(try hasOutcomes(outcomes, of: [worker]), "\(worker.error)", sourceLocation: location)
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)", sourceLocation: location)
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
        _ = try eventually(seconds: seconds) {
            for reader in readers {
                while let event = try reader.poll(timeoutMilliseconds: 10) {
                    if case .message = event { found += 1 }
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

    /// Every committed record of a topic, partition by partition.
    package func records(of topic: String) throws -> [KafkaRecord] {
        var records: [KafkaRecord] = []
        try TopicDump.read(topic, properties, partitions: partitions) { records.append($0) }
        return records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
    }
}
