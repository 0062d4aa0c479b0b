internal import CRdkafka

/// How a record's key determines its partition. All writers of one key must agree on this.
package enum Partitioner: Sendable, Equatable, CaseIterable {
    /// Java clients, and librdkafka's `murmur2` and `murmur2_random`.
    case murmur2
    /// librdkafka's own default and kcat's (`consistent`, `consistent_random`).
    case crc32

    /// The partition of a key among `count`, which must be positive. Null keys have no fixed partition.
    package func partition(of key: [UInt8], count: Int32) -> Int32 {
        precondition(count > 0, "a topic has at least one partition")
        switch self {
        case .murmur2: return Int32(Murmur2.hash(key) & 0x7fff_ffff) % count
        case .crc32: return Int32(CRC32.checksum(key) % UInt32(count))
        }
    }
}

/// MurmurHash2 with the seed that Kafka's Java client uses.
private enum Murmur2 {
    private static let seed: UInt32 = 0x9747_b28c
    private static let multiplier: UInt32 = 0x5bd1_e995

    static func hash(_ key: [UInt8]) -> UInt32 {
        var hash = seed ^ UInt32(truncatingIfNeeded: key.count)
        var index = 0
        while key.count - index >= 4 {
            var word = (0..<4).reduce(UInt32(0)) { $0 | UInt32(key[index + $1]) << UInt32(8 * $1) }
            word = word &* multiplier
            word ^= word >> 24
            hash = (hash &* multiplier) ^ (word &* multiplier)
            index += 4
        }
        if index < key.count {
            for rest in (index..<key.count).reversed() { hash ^= UInt32(key[rest]) << UInt32(8 * (rest - index)) }
            hash = hash &* multiplier
        }
        hash ^= hash >> 13
        hash = hash &* multiplier
        return hash ^ (hash >> 15)
    }
}

/// The CRC-32 of zlib and Ethernet.
private enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func checksum(_ key: [UInt8]) -> UInt32 {
        ~key.reduce(0xffff_ffff) { $0 >> 8 ^ table[Int(($0 ^ UInt32($1)) & 0xff)] }
    }
}

extension Partitioner {
    /// librdkafka's own choice: the tests compare ``partition(of:count:)`` with it.
    package func rdkafkaPartition(of key: [UInt8], count: Int32) -> Int32 {
        // Both functions read only the key's bytes, during the call.
        unsafe key.withUnsafeBytes { bytes in
            switch self {
            case .murmur2:
                unsafe rd_kafka_msg_partitioner_murmur2(nil, bytes.baseAddress, bytes.count, count, nil, nil)
            case .crc32:
                unsafe rd_kafka_msg_partitioner_consistent(nil, bytes.baseAddress, bytes.count, count, nil, nil)
            }
        }
    }
}
