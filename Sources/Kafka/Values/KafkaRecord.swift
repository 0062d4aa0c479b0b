/// A header; Kafka allows null values, any bytes as a name, and one name many times.
package struct KafkaHeader: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]?

    package init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

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
    package var headers: [KafkaHeader]
    /// False where the message's headers could not be decoded (``headers`` is then empty).
    package var headersReadable: Bool
}

/// A partition and the next offset to read of it.
package struct PartitionOffset: Sendable, Equatable {
    /// Stands for "the oldest record there is".
    package static let beginning: Int64 = -2
    /// Stands for "the next record that is written".
    package static let end: Int64 = -1

    package var partition: Int32
    package var offset: Int64
    /// Text that a commit keeps beside the offset, at most 4,096 bytes by the broker's default; empty = none.
    package var metadata: [UInt8]

    package init(partition: Int32, offset: Int64, metadata: [UInt8] = []) {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}

/// A group's committed offset of a partition.
package struct CommittedOffset: Sendable, Equatable {
    package var partition: Int32
    /// The next offset to read; nil = nothing is committed.
    package var offset: Int64?
    /// The metadata committed with it.
    package var metadata: [UInt8]

    package init(partition: Int32, offset: Int64?, metadata: [UInt8] = []) {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}

/// The group's decision about our partitions. Answer each with ``Consumer/assign(_:)`` or ``Consumer/unassign()``.
package enum GroupChange: Sendable, Equatable {
    case assigned([Int32])
    /// Revoked in order: commits still count until ``Consumer/unassign()``.
    case revoked([Int32])
    /// Another member may own them already.
    case lost([Int32])
}

/// The outcome of one call of ``Consumer/poll(timeoutMilliseconds:)``.
package enum ConsumerEvent: Sendable, Equatable {
    case record(KafkaRecord)
    case change(GroupChange)
    /// Only with `enable.partition.eof=true`; the offset is the partition's end.
    case endOfPartition(PartitionOffset)
    /// A fault that the library recovers from by itself, or that concerns one partition.
    case notice(KafkaFault)
}
