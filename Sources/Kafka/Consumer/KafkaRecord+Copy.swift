internal import CRdkafka

extension KafkaRecord {
    /// Copies a message that carries no error; the message stays the caller's.
    init(copying message: UnsafeMutablePointer<rd_kafka_message_t>) {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        // Plain reads of a message that the caller keeps alive.
        let timestamp = unsafe rd_kafka_message_timestamp(message, &type)
        let headers = unsafe Self.headers(of: message)
        self.init(
            partition: unsafe message.pointee.partition,
            offset: unsafe message.pointee.offset,
            timestamp: timestamp,
            timestampType: Self.timestampType(type),
            key: unsafe Self.bytes(message.pointee.key, message.pointee.key_len),
            value: unsafe Self.bytes(message.pointee.payload, message.pointee.len),
            headers: headers ?? [],
            headersReadable: headers != nil
        )
    }

    private static func timestampType(_ type: rd_kafka_timestamp_type_t) -> TimestampType {
        switch type {
        case RD_KAFKA_TIMESTAMP_CREATE_TIME: .create
        case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME: .logAppend
        default: .none
        }
    }

    /// Null stays nil: a tombstone is not an empty value.
    static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        // Start and count come from one message.
        unsafe start.map { unsafe [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) }
    }

    /// nil where the library cannot decode them.
    private static func headers(of message: UnsafeMutablePointer<rd_kafka_message_t>) -> [KafkaHeader]? {
        var list: OpaquePointer?
        // The list stays the message's.
        let code = unsafe rd_kafka_message_headers(message, &list)
        guard code != RD_KAFKA_RESP_ERR__NOENT else { return [] }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        var headers: [KafkaHeader] = []
        headers.reserveCapacity(unsafe rd_kafka_header_cnt(list))
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        while unsafe rd_kafka_header_get_all(list, headers.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            unsafe headers.append(KafkaHeader(name: Self.text(name), value: Self.bytes(value, size)))
        }
        return headers
    }

    /// The bytes of a zero-terminated name, whatever they are.
    private static func text(_ start: UnsafePointer<CChar>?) -> [UInt8] {
        guard let start = unsafe start else { return [] }
        var count = 0
        // The library ends every name with a zero byte.
        while unsafe start[count] != 0 { count += 1 }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
