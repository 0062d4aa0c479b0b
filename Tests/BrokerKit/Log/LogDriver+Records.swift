package import Broker
internal import KafkaKit
package import Log
internal import Member
internal import Pipeline

extension LogDriver {
    /// An output for a request, saying which one.
    package static func output(_ stream: OutputTopic, for record: InboundRecord) -> OutboundRecord {
        OutboundRecord(
            stream: stream,
            partition: record.partition,
            sourceOffset: record.offset,
            sourceTimestamp: record.timestamp,
            key: record.key,
            value: bytes("\(stream.rawValue) \(record.partition)/\(record.offset)"),
            otherHeaders: [
                RecordHeader("request-id", "\(record.offset)"), RecordHeader(name: bytes("none"), value: nil),
            ]
        )
    }

    /// The marks that a worker's unit has.
    package func marks(_ batch: LogBatch) -> [OutboundRecord] {
        batch.positions.map { position in
            let mark = PartitionMark(
                appliedOffset: position.offset,
                group: log.log.group,
                delivery: log.log.isAtomic ? .transaction : .atLeastOnce
            )
            let (key, value) = LedgerCodec.encode(.mark(mark))
            return OutboundRecord(
                stream: .ledger,
                partition: position.partition,
                sourceOffset: -1,
                sourceTimestamp: -1,
                key: key,
                value: value
            )
        }
    }

    package static func publish(
        _ count: Int,
        to topic: String,
        _ properties: [(String, String)]
    ) throws -> PublishReport {
        let publisher = try CapturePublisher(properties: properties, topic: topic)
        var next = 0
        return try publisher.publish {
            guard next < count else { return nil }
            next += 1
            return PublishRecord(key: bytes("key \(next)"), value: bytes("value \(next)"))
        }
    }
}
