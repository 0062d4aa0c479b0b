/// A record of a compacted topic. A null key or value (a tombstone) is nil, an empty one [].
package struct TopicRecord: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64
    package var key: [UInt8]?
    package var value: [UInt8]?
}
