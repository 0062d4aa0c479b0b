internal import CRdkafka
internal import KafkaPorts
internal import Streams

/// Records of a compacted topic, their bytes one after the other: a record costs no allocation.
struct PackedRecords {
    private(set) var bytes: [UInt8] = []
    private(set) var places: [StoredRecords.Place] = []
    private var offsets: [Int64] = []

    /// - Parameter last: records and bytes to expect.
    init(like last: (records: Int, bytes: Int)) {
        bytes.reserveCapacity(last.bytes + last.bytes / 16)
        places.reserveCapacity(last.records)
        offsets.reserveCapacity(last.records)
    }

    mutating func append(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let (key, value) = unsafe (message.pointee.key, message.pointee.payload)
        let (keyBytes, valueBytes) = unsafe (key == nil ? 0 : message.pointee.key_len, message.pointee.len)
        places.append(
            StoredRecords.Place(
                partition: unsafe message.pointee.partition,
                start: bytes.count,
                keyBytes: keyBytes,
                valueBytes: unsafe value == nil ? nil : valueBytes
            )
        )
        unsafe offsets.append(message.pointee.offset)
        // Start and count come from one message, which lives as long as this call; a null pointer has no bytes.
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: key, count: keyBytes))
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueBytes))
    }

    consuming func chunk() -> LedgerChunk {
        LedgerChunk(StoredRecords(bytes: bytes, places: places), offsets: offsets)
    }
}
