internal import CRdkafka

/// Records of a compacted topic, their bytes one after the other: a record costs no allocation.
package struct PackedRecords: Sendable {
    package struct Place: Sendable {
        package let partition: Int32
        package let offset: Int64
        /// Where the key begins; the value follows it.
        package let start: Int
        /// 0 for a null key, too.
        package let keyBytes: Int
        /// nil for a tombstone.
        package let valueBytes: Int?
    }

    package private(set) var bytes: [UInt8] = []
    package private(set) var places: [Place] = []

    /// - Parameter last: records and bytes to expect.
    init(like last: (records: Int, bytes: Int)) {
        bytes.reserveCapacity(last.bytes + last.bytes / 16)
        places.reserveCapacity(last.records)
    }

    mutating func append(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let (key, value) = unsafe (message.pointee.key, message.pointee.payload)
        let (keyBytes, valueBytes) = unsafe (key == nil ? 0 : message.pointee.key_len, message.pointee.len)
        places.append(
            Place(
                partition: unsafe message.pointee.partition,
                offset: unsafe message.pointee.offset,
                start: bytes.count,
                keyBytes: keyBytes,
                valueBytes: unsafe value == nil ? nil : valueBytes
            )
        )
        // Start and count come from one message, which lives as long as this call; a null pointer has no bytes.
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: key, count: keyBytes))
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueBytes))
    }
}
