internal import CRdkafka

extension Partitioner {
    /// What librdkafka itself would choose: the tests hold ``partition(of:count:)`` against it.
    package func rdkafkaPartition(of key: [UInt8], count: Int32) -> Int32 {
        // Both functions look at the key's bytes alone, during the call.
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
