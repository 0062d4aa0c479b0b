internal import CRdkafka
internal import Glibc
internal import Streams

extension InboundRecord {
    /// Copies a message that carries no error; the message stays the caller's.
    init(copying message: UnsafeMutablePointer<rd_kafka_message_t>, topic: String) {
        let stamp = unsafe RecordStamp(message)
        let headers = unsafe Self.headers(of: message)
        // Plain reads of a message that the caller keeps alive.
        self.init(
            topic: topic,
            partition: stamp.place.partition,
            offset: stamp.place.offset,
            timestamp: stamp.timestamp,
            key: unsafe Self.bytes(message.pointee.key, message.pointee.key_len),
            value: unsafe Self.bytes(message.pointee.payload, message.pointee.len),
            headers: headers ?? [],
            hasReadableHeaders: headers != nil,
            hasLogAppendTime: stamp.hasLogAppendTime
        )
    }

    /// Null stays nil: a tombstone is not an empty value.
    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        // Start and count come from one message.
        unsafe start.map { unsafe [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) }
    }

    /// nil where the library cannot decode them.
    private static func headers(of message: UnsafeMutablePointer<rd_kafka_message_t>) -> [RecordHeader]? {
        var headers: [RecordHeader] = []
        let isReadable = unsafe eachHeader(of: message) { name, value in
            unsafe headers.append(RecordHeader(name: [UInt8](name), value: bytes(value.baseAddress, value.count)))
        }
        return isReadable ? headers : nil
    }

    /// The bytes of all names and values, as far as the library can decode them.
    static func headerBytes(of message: UnsafeMutablePointer<rd_kafka_message_t>) -> Int {
        var count = 0
        _ = unsafe eachHeader(of: message) { name, value in count += name.count + value.count }
        return count
    }

    /// Lends names and values; the base address of a null value is nil.
    ///
    /// - Returns: false where the library cannot decode them.
    private static func eachHeader(
        of message: UnsafeMutablePointer<rd_kafka_message_t>,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        var list: OpaquePointer?
        // The list stays the message's.
        let code = unsafe rd_kafka_message_headers(message, &list)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return code == RD_KAFKA_RESP_ERR__NOENT }
        var (name, value): (UnsafePointer<CChar>?, UnsafeRawPointer?)
        var (index, size) = (0, 0)
        while unsafe rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            // The library ends every name with a zero byte, whatever its other bytes are.
            let length = unsafe name.map { unsafe strlen($0) } ?? 0
            unsafe body(
                UnsafeRawBufferPointer(start: name, count: length),
                UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : size)
            )
            index += 1
        }
        return true
    }
}
