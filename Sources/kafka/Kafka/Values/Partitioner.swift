internal import CRdkafka

/// How a record's key determines its partition. All writers of one key must agree on this.
package enum Partitioner: Sendable, Equatable {
    /// Java clients, and librdkafka's `murmur2` and `murmur2_random`.
    case murmur2
    /// librdkafka's own default and kcat's (`consistent`, `consistent_random`).
    case crc32

    /// The partition of a key among `count`, which must be positive. Null keys have no fixed partition.
    package func partition(of key: [UInt8], count: Int32) -> Int32 {
        precondition(count > 0, "a topic has at least one partition")
        // Both functions read only the key's bytes, during the call.
        return unsafe key.withUnsafeBytes { bytes in
            switch self {
            case .murmur2:
                unsafe rd_kafka_msg_partitioner_murmur2(nil, bytes.baseAddress, bytes.count, count, nil, nil)
            case .crc32:
                unsafe rd_kafka_msg_partitioner_consistent(nil, bytes.baseAddress, bytes.count, count, nil, nil)
            }
        }
    }
}
