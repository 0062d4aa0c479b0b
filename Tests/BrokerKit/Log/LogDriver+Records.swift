package import Broker
internal import KafkaKit
package import Log

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
