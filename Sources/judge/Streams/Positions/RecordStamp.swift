/// The place and the time of a record: all that is known before it is decoded.
package struct RecordStamp: Hashable, Sendable {
    package let place: RecordPlace
    /// The time in milliseconds, −1 where the source has none.
    package let timestamp: Int64
    /// The broker wrote the timestamp when it appended the record; else its sender may have chosen it.
    package let hasLogAppendTime: Bool

    package init(_ place: RecordPlace, timestamp: Int64, hasLogAppendTime: Bool) {
        (self.place, self.timestamp, self.hasLogAppendTime) = (place, timestamp, hasLogAppendTime)
    }

    package init(_ record: borrowing InboundRecord) {
        place = RecordPlace(partition: record.partition, offset: record.offset)
        (timestamp, hasLogAppendTime) = (record.timestamp, record.hasLogAppendTime)
    }
}

/// A record's partition and offset.
package struct RecordPlace: Hashable, Sendable {
    package let partition: Int32
    package let offset: Int64

    package init(partition: Int32, offset: Int64) { (self.partition, self.offset) = (partition, offset) }

    package init(_ record: InboundRecord) { self.init(partition: record.partition, offset: record.offset) }
}
