internal import CRdkafka
internal import KafkaPorts
internal import Streams

extension Producer {
    /// A topic that the client writes to, looked up once; by its name the library would do that for each record.
    @safe
    struct Target {
        let topic: String
        let partitions: Int32
        /// The producer's own, for as long as it lives.
        fileprivate let handle: OpaquePointer

        init(_ topic: String, partitions: Int32, _ handle: OpaquePointer) {
            (self.topic, self.partitions) = (topic, partitions)
            unsafe self.handle = handle
        }
    }

    /// Hands one record to the library, which copies everything. Returns the error if it refuses the record.
    ///
    /// - Parameter headers: a list of this record alone: the library takes it over.
    func enqueue(
        _ target: Target,
        _ partition: Int32,
        _ key: [UInt8]?,
        _ value: [UInt8]?,
        _ headers: HeaderList,
        _ ticket: UInt?
    ) -> KafkaFault? {
        // Arrays are lent for the call only.
        unsafe withBytes(key) { key in
            unsafe withBytes(value) { value in unsafe send(target, partition, key, value, headers, ticket) }
        }
    }

    private func send(
        _ target: Target,
        _ partition: Int32,
        _ key: UnsafeRawBufferPointer?,
        _ value: UnsafeRawBufferPointer?,
        _ headers: HeaderList,
        _ ticket: UInt?
    ) -> KafkaFault? {
        let error = unsafe withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 7) { arguments in
            unsafe arguments.initialize(repeating: rd_kafka_vu_t())
            unsafe arguments[0].vtype = RD_KAFKA_VTYPE_RKT
            unsafe arguments[0].u.rkt = target.handle
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
            unsafe arguments[6].u.headers = headers.list
            return unsafe rd_kafka_produceva(handle.pointer, arguments.baseAddress, headers.list == nil ? 6 : 7)
        }
        guard let error = unsafe error else { return nil }
        // A refused record leaves its headers to us.
        if let list = unsafe headers.list { unsafe rd_kafka_headers_destroy(list) }
        let doing = "a record for \(target.topic), partition \(partition)"
        return unsafe KafkaFault(takingOwnershipOf: error, doing: doing)
    }
}

/// A record's headers in the library's memory, which owns them once it has taken the record.
///
/// They go as a list of ours: with single header arguments 2.0.2 frees them twice when it refuses the record.
@safe
struct HeaderList {
    fileprivate private(set) var list: OpaquePointer?

    init(_ headers: [RecordHeader]) {
        if !headers.isEmpty { unsafe list = Self.make(headers.count) }
        for header in headers { add(header.name, header.value) }
    }

    /// An output's headers, without an array of them in between.
    init(of record: OutboundRecord) {
        let count = record.headerCount
        if count > 0 { unsafe list = Self.make(count) }
        record.eachHeader { add($0, $1) }
    }

    private static func make(_ count: Int) -> OpaquePointer {
        guard let list = unsafe rd_kafka_headers_new(count) else { preconditionFailure("no memory is left") }
        return unsafe list
    }

    /// Copies name and value, with their sizes, so that any bytes may be in them.
    private func add(_ name: [UInt8], _ value: [UInt8]?) {
        unsafe withBytes(name) { name in
            unsafe withBytes(value) { value in
                let (length, size) = unsafe (name?.count ?? 0, value?.count ?? 0)
                let code = unsafe rd_kafka_header_add(list, name?.baseAddress, length, value?.baseAddress, size)
                precondition(code == RD_KAFKA_RESP_ERR_NO_ERROR, "a list of ours takes every header")
            }
        }
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
