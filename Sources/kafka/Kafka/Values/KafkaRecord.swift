package import Streams

/// A consumed message, copied out of the library's memory. A null key or value (a tombstone) is nil, an empty one [].
package struct KafkaRecord: Sendable, Equatable {
    package enum TimestampType: Sendable {
        case none, create, logAppend
    }

    package var partition: Int32
    package var offset: Int64
    /// Milliseconds since 1970; −1 where the message has none.
    package var timestamp: Int64
    package var timestampType: TimestampType
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]
    /// False where the message's headers could not be decoded (``headers`` is then empty).
    package var headersReadable: Bool
}

/// The group's decision about our partitions. Answer each with ``Consumer/assign(_:)`` or ``Consumer/unassign()``.
package enum GroupChange: Sendable, Equatable {
    case assigned([Int32])
    /// Revoked in order: commits still count until ``Consumer/unassign()``.
    case revoked([Int32])
    /// Another member may own them already.
    case lost([Int32])
}
