import BrokerKit
import Foundation
import Kafka
import Log
import Testing

// MARK: - Work

extension ProgramWorkplace {
    /// Publishes the traffic of fake devices, as the program makes it.
    func simulate(devices: Int, records: Int, faults: Double = 0, seed: Int = 1) throws {
        let load = ["--devices", String(devices), "--records", String(records), "--faults", String(faults)]
        try done("simulate", load + ["--seed", String(seed), "--publish"])
    }

    /// The same traffic unpublished, in the order in which it was made. Its capture stays in `simulated.ndjson`.
    func simulated(devices: Int, records: Int, faults: Double = 0) throws -> [InboundRecord] {
        let load = ["--devices", String(devices), "--records", String(records), "--faults", String(faults)]
        try done("simulate", load + ["--output", file("simulated.ndjson")])
        return try captured("simulated.ndjson")
    }

    /// Runs the worker until so many outcomes are there, then asks it to end, which must be exit code 0.
    func work(until outcomes: Int, location: SourceLocation = #_sourceLocation) throws -> ProgramProcess {
        let worker = try start("run", "--instance", "one")
        #expect(try hasOutcomes(outcomes, of: [worker]), "\(worker.error)", sourceLocation: location)
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)", sourceLocation: location)
        return worker
    }

    /// Waits until the group has so many members and is at rest.
    func hasMembers(_ count: Int) throws -> Bool {
        let admin = try Admin(properties)
        return Patience.wait(30) {
            guard let found = try? admin.group(group), found.members == count else { return false }
            return count == 0 || found.state == "Stable"
        }
    }
}

extension ProgramProcess {
    /// The count in the last line that a run prints.
    var requests: Int {
        let parts = error.components(separatedBy: " requests: ")
        guard parts.count > 1, let count = parts[parts.count - 2].split(separator: " ").last else { return -1 }
        return Int(count.filter(\.isNumber)) ?? -1
    }

    /// Whether standard error holds one line, with this beginning, and standard output nothing.
    ///
    /// - Parameter start: with the program's name; a running worker's log has time, level and event instead.
    func saysOneLine(_ start: String) -> Bool {
        let lines = error.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 2, lines[1].isEmpty, output.isEmpty else { return false }
        if lines[0].hasPrefix(start) { return true }
        let words = lines[0].split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        return words.count == 4 && words[0].hasSuffix("Z") && words[2].hasSuffix(":")
            && words[3].hasPrefix(start.dropFirst("attest-worker: ".count))
    }
}

// MARK: - Topics

extension ProgramWorkplace {
    /// Puts records onto a topic, each on the partition of its key unless another one is given.
    ///
    /// - Parameter topic: nil = the requests.
    func put(_ records: [PutRecord], to topic: String? = nil) throws {
        let producer = try Producer(properties)
        for record in records {
            let own = record.key.map { Partitioner.murmur2.partition(of: $0, count: partitions) } ?? 0
            try producer.produce(
                topic: topic ?? requests,
                partition: record.partition ?? own,
                key: record.key,
                value: record.value,
                headers: record.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
            )
        }
        try producer.flush(timeoutMilliseconds: 30_000)
    }

    func put(_ records: some Sequence<InboundRecord>) throws {
        try put(records.map { PutRecord(key: $0.key, value: $0.value, headers: $0.headers) })
    }

    /// Runs kcat on the requests topic. - Returns: what it printed.
    @discardableResult
    func kcat(_ arguments: String...) throws -> Data {
        try Kcat.run(properties["bootstrap.servers"] ?? "", topic: requests, arguments)
    }
}

/// A record for a topic.
struct PutRecord {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader] = []
    /// nil = where its key belongs.
    var partition: Int32?
}
