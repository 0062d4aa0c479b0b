internal import Foundation
package import Kafka

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

    /// Fake devices' requests, all of them acknowledged when this returns.
    package func publish(_ requests: Int, seed: UInt64 = 1, devices: Int = 20, faultShare: Double = 0.1) throws {
        let producer = ChaosProducer(properties, topic: self.requests, partitions: partitions)
        producer.start { [ca] in
            ChaosTraffic(ca: ca, seed: seed, requests: requests, devices: devices, faultShare: faultShare)
        }
        guard Patience.wait(120, until: { producer.status.isDone }), producer.status.acknowledged == requests else {
            producer.stop()
            throw ClusterFault(description: "not published: \(producer.status)")
        }
    }

    /// A watch that finds out when every request is answered and committed.
    package func drainWatch() -> DrainWatch { DrainWatch(properties, requests, partitions) }

    /// Waits until every request is answered and committed.
    package func drains(seconds: Int = 60, while isWorking: () -> Bool = { true }) throws -> Bool {
        let watch = drainWatch()
        var isDone = false
        _ = try Patience.wait(seconds) {
            isDone = try watch.isDrained()
            return isDone || !isWorking()
        }
        if !isDone { print("\(requests) is not drained: \(watch.obstacle)") }
        return isDone
    }

    /// Waits for so many committed results and dead letters, as long as all these workers run.
    package func hasOutcomes(_ count: Int, of workers: [ProgramProcess], seconds: Int = 60) throws -> Bool {
        let readers = try ["results", "dead-letters"].map { try reader(of: topic($0)) }
        var found = 0
        _ = try Patience.wait(seconds) {
            for reader in readers {
                while let event = try reader.poll(timeoutMilliseconds: 10) {
                    if case .message = event { found += 1 }
                }
            }
            return found >= count || !workers.allSatisfy(\.isRunning)
        }
        return found >= count
    }

    private func reader(of topic: String) throws -> Consumer {
        let reader = try Consumer(properties, topic: topic)
        try reader.assign((0..<partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        return reader
    }

    /// Every committed record of a topic, partition by partition.
    package func records(of topic: String) throws -> [KafkaRecord] {
        var records: [KafkaRecord] = []
        try TopicDump.read(topic, properties, partitions: partitions) { records.append($0) }
        return records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
    }

    /// Reads all that was written and checks it against the worker's promises.
    package func reckon() throws -> ChaosFindings {
        let reading = try ChaosReader(workplace: self).read()
        var findings = ChaosChecker.check(reading.evidence)
        for place in reading.open { findings.add(.openTransaction, place) }
        return findings
    }
}
