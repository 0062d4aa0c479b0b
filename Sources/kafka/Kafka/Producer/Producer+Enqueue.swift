internal import CRdkafka
internal import KafkaPorts
internal import Streams

extension Producer {
    /// Hands one record to the library, which copies everything. Returns the error if it refuses the record.
    func enqueue(
        _ topic: String,
        _ partition: Int32,
        _ key: [UInt8]?,
        _ value: [UInt8]?,
        _ headers: [RecordHeader],
        _ ticket: UInt?
    ) -> KafkaFault? {
        // Strings and arrays are lent for the call only.
        unsafe topic.withCString { name in
            unsafe withBytes(key) { key in
                unsafe withBytes(value) { value in
                    unsafe send(name, partition, key, value, headers, ticket)
                }
            }
        }
    }

    private func send(
        _ topic: UnsafePointer<CChar>,
        _ partition: Int32,
        _ key: UnsafeRawBufferPointer?,
        _ value: UnsafeRawBufferPointer?,
        _ headers: [RecordHeader],
        _ ticket: UInt?
    ) -> KafkaFault? {
        // Headers go as a list of ours: with single header arguments 2.0.2 frees them twice when it refuses the record.
        let list = unsafe Self.makeHeaders(headers)
        let error = unsafe withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 7) { arguments in
            unsafe arguments.initialize(repeating: rd_kafka_vu_t())
            unsafe arguments[0].vtype = RD_KAFKA_VTYPE_TOPIC
            unsafe arguments[0].u.cstr = topic
            unsafe arguments[1].vtype = RD_KAFKA_VTYPE_PARTITION
            unsafe arguments[1].u.i32 = partition
            unsafe arguments[2].vtype = RD_KAFKA_VTYPE_KEY
            unsafe arguments[2].u.mem = .init(
                ptr: UnsafeMutableRawPointer(mutating: key?.baseAddress),
                size: key?.count ?? 0
            )
            unsafe arguments[3].vtype = RD_KAFKA_VTYPE_VALUE
            unsafe arguments[3].u.mem = .init(
                ptr: UnsafeMutableRawPointer(mutating: value?.baseAddress),
                size: value?.count ?? 0
            )
            unsafe arguments[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS
            unsafe arguments[4].u.i = RD_KAFKA_MSG_F_COPY
            unsafe arguments[5].vtype = RD_KAFKA_VTYPE_OPAQUE
            // A number, never followed: the report brings it back.
            unsafe arguments[5].u.ptr = ticket.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }
            unsafe arguments[6].vtype = RD_KAFKA_VTYPE_HEADERS
            unsafe arguments[6].u.headers = list
            return unsafe rd_kafka_produceva(handle.pointer, arguments.baseAddress, list == nil ? 6 : 7)
        }
        guard let error = unsafe error else { return nil }
        // A refused record leaves its headers to us.
        if let list = unsafe list { unsafe rd_kafka_headers_destroy(list) }
        let name = unsafe String(cString: topic)
        return unsafe KafkaFault(takingOwnershipOf: error, doing: "a record for \(name), partition \(partition)")
    }

    /// A header list that the library owns once it has taken the record; nil for none.
    private static func makeHeaders(_ headers: [RecordHeader]) -> OpaquePointer? {
        guard !headers.isEmpty else { return nil }
        guard let list = unsafe rd_kafka_headers_new(headers.count) else { preconditionFailure("no memory is left") }
        for header in headers {
            // Name and value are copied, with their sizes, so that any bytes may be in them.
            unsafe withBytes(header.name) { name in
                unsafe withBytes(header.value) { value in
                    let (length, size) = unsafe (name?.count ?? 0, value?.count ?? 0)
                    let code = unsafe rd_kafka_header_add(list, name?.baseAddress, length, value?.baseAddress, size)
                    precondition(code == RD_KAFKA_RESP_ERR_NO_ERROR, "a list of ours takes every header")
                }
            }
        }
        return unsafe list
    }
}

/// An empty string that is never freed: an empty array has no address.
nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    // One byte was allocated above.
    unsafe text.initialize(to: 0)
    return unsafe UnsafePointer(text)
}()

/// Lends bytes: nil stays null, and empty bytes get an address, since the library takes null for nil.
private func withBytes<Result>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
    guard let bytes else { return body(nil) }
    guard !bytes.isEmpty else {
        // No byte is read of an empty buffer.
        return unsafe body(UnsafeRawBufferPointer(start: emptyText, count: 0))
    }
    return unsafe bytes.withUnsafeBytes { unsafe body($0) }
}
