import Kafka
import Pipeline
import Testing
import Worker

/// Drives a ``KafkaRecordLog`` as the loop does.
enum LogDriver {
    /// Polls until `count` records are there. Changes are answered, and noted.
    static func records(
        _ count: Int,
        from log: KafkaRecordLog,
        limits: BatchLimits = BatchLimits(),
        changes: inout [AssignmentChange]
    ) throws -> [InboundRecord] {
        var records: [InboundRecord] = []
        let deadline = ContinuousClock.now + .seconds(30)
        while records.count < count, ContinuousClock.now < deadline {
            let round = try log.poll(limits, waitMilliseconds: 100)
            #expect(round.change == nil || round.records.isEmpty, "either records or a change")
            #expect(round.records.count <= limits.records)
            if let change = round.change {
                changes.append(change)
                if change.takesAway { try log.releaseRevoked() }
            }
            for case .record(let record) in round.records { records.append(record) }
        }
        if records.count < count { Issue.record("only \(records.count) of \(count) records came") }
        return records
    }

    static func records(_ count: Int, from log: KafkaRecordLog) throws -> [InboundRecord] {
        var changes: [AssignmentChange] = []
        return try records(count, from: log, changes: &changes)
    }

    /// Polls until a change comes. - Returns: nil when none did in time.
    static func change(from log: KafkaRecordLog, seconds: Int = 30) throws -> AssignmentChange? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            if let change = try log.poll(BatchLimits(), waitMilliseconds: 50).change { return change }
        }
        return nil
    }

    /// An output for a request, saying which one.
    static func output(_ stream: OutputStream, for record: InboundRecord) -> OutboundRecord {
        OutboundRecord(
            stream: stream,
            partition: record.partition,
            sourceOffset: record.offset,
            sourceTimestamp: record.timestamp,
            key: record.key,
            value: bytes("\(stream.rawValue) \(record.partition)/\(record.offset)"),
            headers: [RecordHeader("request-id", "\(record.offset)"), RecordHeader(name: bytes("none"), value: nil)]
        )
    }

    /// The positions after the last of these records.
    static func positions(after records: [InboundRecord]) -> [PartitionPosition] {
        Dictionary(grouping: records, by: \.partition).map { partition, records in
            PartitionPosition(partition: partition, offset: (records.map(\.offset).max() ?? 0) + 1)
        }
    }

    static func publish(_ count: Int, to topic: String, _ properties: [(String, String)]) throws -> PublishReport {
        let publisher = try CapturePublisher(properties: properties, topic: topic)
        var next = 0
        return try publisher.publish {
            guard next < count else { return nil }
            next += 1
            return PublishRecord(key: bytes("key \(next)"), value: bytes("value \(next)"))
        }
    }
}

extension AssignmentChange {
    var takesAway: Bool {
        switch self {
        case .assigned: false
        case .revoked, .lost: true
        }
    }
}
