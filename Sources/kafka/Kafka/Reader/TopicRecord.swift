/// A record of a topic that is read without a group. A null key or value (a tombstone) is nil, an empty one [].
package struct TopicRecord: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64
    package var key: [UInt8]?
    package var value: [UInt8]?
    /// Milliseconds since 1970; −1 where the record has none.
    package var timestamp: Int64
    /// nil where the library cannot decode them.
    package var headers: [KafkaHeader]?

    package init(
        partition: Int32,
        offset: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        timestamp: Int64 = -1,
        headers: [KafkaHeader]? = []
    ) {
        (self.partition, self.offset, self.key, self.value) = (partition, offset, key, value)
        (self.timestamp, self.headers) = (timestamp, headers)
    }
}
