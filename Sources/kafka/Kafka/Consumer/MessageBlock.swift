internal import CRdkafka
internal import Glibc
internal import Streams
internal import Synchronization

/// Consumed messages in the library's memory: each is freed when it is taken, the others with this object.
///
/// The consumer fills it on its thread; messages are taken on any. It keeps their client, which they need, alive.
@safe
final class MessageBlock: RecordMemory, @unchecked Sendable {
    /// The messages of a block: as many as a lane decodes at a time, so that many threads seldom share its count of
    /// references.
    private static let capacity = 64

    private let topic: String
    private let handle: ClientHandle
    private var count = 0
    // Allocated once, so that a message keeps its place; nil = it was taken.
    private let messages = UnsafeMutablePointer<Atomic<UnsafeMutablePointer<rd_kafka_message_t>?>>
        .allocate(capacity: capacity)

    init(topic: String, _ handle: ClientHandle) { (self.topic, self.handle) = (topic, handle) }

    deinit {
        for index in 0..<count {
            // The last reference is gone: no other thread takes messages any more.
            guard let message = unsafe messages[index].load(ordering: .relaxed) else { continue }
            unsafe rd_kafka_message_destroy(message)
        }
        unsafe messages.deinitialize(count: count)
        unsafe messages.deallocate()
    }

    var isFull: Bool { count == Self.capacity }

    /// Takes ownership of a message that carries no error.
    func keep(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> ConsumedMessage {
        precondition(!isFull, "a full block takes no message")
        // Plain reads of a message that is ours.
        unsafe (messages + count).initialize(to: Atomic(message))
        defer { count += 1 }
        let fields = unsafe message.pointee
        precondition(
            unsafe fields.err == RD_KAFKA_RESP_ERR_NO_ERROR && fields.partition >= 0 && fields.offset >= 0,
            "a message without an error lies at an offset of a partition"
        )
        return unsafe ConsumedMessage(
            record: UncopiedRecord(RecordStamp(message), count, in: self),
            byteCount: fields.key_len + fields.len,
            start: UInt(bitPattern: fields.key ?? fields.payload),
            end: fields.payload.map { unsafe UInt(bitPattern: $0 + fields.len) } ?? keyEnd(fields),
            index: count,
            block: self
        )
    }

    private func keyEnd(_ message: rd_kafka_message_t) -> UInt {
        // Only the address counts.
        unsafe message.key.map { unsafe UInt(bitPattern: $0 + message.key_len) } ?? 0
    }

    /// Decodes a message's headers and measures them; 0 where it was taken already.
    func headerBytes(_ index: Int) -> Int {
        // The library keeps what it decodes in the message: meanwhile nobody takes it.
        guard let message = unsafe claim(index, as: Self.measured) else { return 0 }
        defer { unsafe messages[index].store(message, ordering: .releasing) }
        return unsafe InboundRecord.headerBytes(of: message)
    }

    /// Copies a message and frees it. Once, on any thread.
    func takeRecord(_ index: Int) -> InboundRecord {
        precondition((0..<Self.capacity).contains(index), "a message has a place in its block")
        // The index came with a message, so its place was filled.
        guard let message = unsafe claim(index, as: nil) else { preconditionFailure("a message is taken once") }
        // Not on the consumer's thread: what messages share has atomic counts, and the client that owns it is alive.
        defer { unsafe rd_kafka_message_destroy(message) }
        return unsafe InboundRecord(copying: message, topic: topic)
    }

    /// The mark in the place of a message whose headers are being measured; never followed.
    private static var measured: UnsafeMutablePointer<rd_kafka_message_t>? { unsafe .init(bitPattern: 1) }

    /// Takes a message out of its place; nil where it was taken already.
    private func claim(
        _ index: Int,
        as next: UnsafeMutablePointer<rd_kafka_message_t>?
    ) -> UnsafeMutablePointer<rd_kafka_message_t>? {
        while let message = unsafe messages[index].load(ordering: .acquiring) {
            if unsafe message == Self.measured {
                // For as long as the consumer's thread takes to decode one record's headers.
                sched_yield()
            } else if unsafe messages[index].compareExchange(
                expected: message,
                desired: next,
                ordering: .acquiringAndReleasing
            ).exchanged {
                return unsafe message
            }
        }
        return nil
    }
}
