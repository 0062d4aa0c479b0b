internal import CRdkafka
internal import Synchronization

/// Consumed messages in the library's memory: each is freed when it is taken, the others with this object.
///
/// The consumer fills it on its thread; messages are taken on any. It keeps their client, which they need, alive.
@safe
package final class MessageBlock: @unchecked Sendable {
    /// As many as a lane decodes at a time: the count of references is then seldom shared by many threads.
    private static let capacity = 64

    package let topic: String
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
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        // Plain reads of a message that is ours.
        let timestamp = unsafe rd_kafka_message_timestamp(message, &type)
        unsafe (messages + count).initialize(to: Atomic(message))
        defer { count += 1 }
        let fields = unsafe message.pointee
        return unsafe ConsumedMessage(
            partition: fields.partition,
            offset: fields.offset,
            timestamp: timestamp,
            timestampType: KafkaRecord.timestampType(type),
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

    /// Decodes a message's headers and measures them. No other thread may have the message yet.
    func headerBytes(_ index: Int) -> Int {
        // As long as it is measured, it is not there to be taken.
        guard let message = unsafe messages[index].exchange(nil, ordering: .acquiringAndReleasing) else { return 0 }
        defer { unsafe messages[index].store(message, ordering: .releasing) }
        return unsafe KafkaRecord.headerBytes(of: message)
    }

    /// Copies a message and frees it. Once, on any thread.
    package func take(_ index: Int) -> KafkaRecord {
        precondition((0..<Self.capacity).contains(index), "a message has a place in its block")
        // The index came with a message, so its place was filled.
        guard let message = unsafe messages[index].exchange(nil, ordering: .acquiringAndReleasing) else {
            preconditionFailure("a message is taken once")
        }
        // Not on the consumer's thread: what messages share has atomic counts, and the client that owns it is alive.
        defer { unsafe rd_kafka_message_destroy(message) }
        return unsafe KafkaRecord(copying: message)
    }
}
