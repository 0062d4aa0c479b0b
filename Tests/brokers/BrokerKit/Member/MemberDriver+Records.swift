package import Broker
internal import KafkaKit
internal import Member
internal import Pipeline
package import Streams

extension MemberDriver {
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

    /// The marks that a worker's transaction has.
    package func marks(_ batch: MemberBatch) -> [OutboundRecord] {
        batch.positions.map { position in
            let mark = PartitionMark(
                appliedOffset: position.offset,
                group: member.streams.group,
                delivery: member.streams.isAtomic ? .transaction : .atLeastOnce,
                identity: member.streams.ledgerIdentity(of: position.partition)
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
