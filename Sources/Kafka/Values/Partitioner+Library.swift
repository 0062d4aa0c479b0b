internal import CRdkafka

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
