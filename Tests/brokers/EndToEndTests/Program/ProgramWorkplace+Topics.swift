import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Streams
import TestKit
import Testing

// MARK: - Work

extension ProgramWorkplace {
    /// The same traffic unpublished, in the order in which it was made. Its capture stays in `simulated.ndjson`.
    func simulated(devices: Int, records: Int, faults: Double = 0) throws -> [InboundRecord] {
        let load = ["--devices", String(devices), "--records", String(records), "--faults", String(faults)]
        try done("simulate", load + ["--output", file("simulated.ndjson")])
        return try captured("simulated.ndjson")
    }

    /// Waits until the group has so many members and is at rest.
    func hasMembers(_ count: Int) throws -> Bool {
        let admin = try Admin(properties)
        return Deadline.wait(30) {
            guard let found = try? admin.group(group), found.members == count else { return false }
            return count == 0 || found.state == "Stable"
        }
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
                headers: record.headers
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
