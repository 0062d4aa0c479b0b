/// A record read from the source. `timestamp` is in milliseconds, −1 where the source has none.
package struct InboundRecord: Sendable, Equatable {
    package var topic: String
    package var partition: Int32
    package var offset: Int64
    package var timestamp: Int64
    /// False if the source could not read them; ``headers`` is then empty, which does not mean that there were none.
    package var hasReadableHeaders: Bool
    /// The broker wrote the timestamp when it appended the record; else its sender may have chosen it.
    package var hasLogAppendTime: Bool
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]

    /// The timestamps that RFC 3339 can express.
    package static let timestamps: ClosedRange<Int64> = 0...253_402_300_799_999
}

extension InboundRecord {
    /// Makes the value in one piece: see ``OutboundRecord``.
    package init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = [],
        hasReadableHeaders: Bool = true,
        hasLogAppendTime: Bool = false
    ) {
        self.init(
            topic: topic,
            partition: partition,
            offset: offset,
            timestamp: timestamp,
            hasReadableHeaders: hasReadableHeaders,
            hasLogAppendTime: hasLogAppendTime,
            key: key,
            value: value,
            headers: headers
        )
    }
}

extension String {
    /// Kafka's own rule; it also keeps out librdkafka's patterns, which begin with `^`.
    package var isTopicName: Bool {
        (1...249).contains(utf8.count) && self != "." && self != ".."
            && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }
}
