internal import CRdkafka
internal import KafkaPorts

/// Offset commits of a consumer that have no answer yet. The answers come on a separate queue, which a poll of the
/// consumer does not serve.
@safe
final class OffsetCommits {
    private let handle: ClientHandle
    /// Ours, given back before the client is.
    private let queue: OpaquePointer
    private let topic: String
    private var last = 0
    private var open: Set<Int> = []
    /// Commits of nothing, which need no broker.
    private var done: [CommitID] = []

    /// nil = out of memory.
    init?(_ handle: ClientHandle, topic: String) {
        guard let queue = unsafe rd_kafka_queue_new(handle.pointer) else { return nil }
        unsafe self.queue = queue
        (self.handle, self.topic) = (handle, topic)
    }

    deinit {
        // Answers that come later are dropped by the library.
        unsafe rd_kafka_queue_destroy(queue)
    }

    /// Whether no answer is outstanding.
    var isEmpty: Bool { open.isEmpty && done.isEmpty }

    func send(_ offsets: [PartitionOffset]) throws(KafkaFault) -> CommitID {
        last += 1
        let id = CommitID(last)
        guard !offsets.isEmpty else {
            done.append(id)
            return id
        }
        let list = TopicPartitionList(topic: topic, offsets: offsets)
        // A number, never followed: the answer brings it back.
        let opaque = unsafe UnsafeMutableRawPointer(bitPattern: last)
        // The library copies the list.
        let code = unsafe list.withPointer { list in
            unsafe rd_kafka_commit_queue(handle.pointer, list, queue, nil, opaque)
        }
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw seen(KafkaFault(code, doing: action)) }
        precondition(open.insert(last).inserted, "a commit has a number of its own")
        return id
    }

    /// The next answer that is there.
    func nextAnswer() -> GroupEvent? {
        if !done.isEmpty { return .committed(done.removeFirst(), nil) }
        guard !open.isEmpty, let event = unsafe rd_kafka_queue_poll(queue, 0) else { return nil }
        // Ours until destroyed.
        defer { unsafe rd_kafka_event_destroy(event) }
        let number = unsafe Int(bitPattern: rd_kafka_event_opaque(event))
        guard open.remove(number) != nil else { return nil }
        return unsafe .committed(CommitID(number), fault(in: event).map(seen))
    }

    private func seen(_ fault: KafkaFault) -> KafkaFault { handle.running(handle.explained(fault)) }

    private func fault(in event: OpaquePointer) -> KafkaFault? {
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return KafkaFault(code, doing: action) }
        // The event owns the list; a partition may fail alone.
        guard let list = unsafe rd_kafka_event_topic_partition_list(event) else { return nil }
        return unsafe TopicPartitionList.firstFault(in: list, action)
    }

    private var action: String { "committing offsets of \(topic)" }
}
