internal import CRdkafka
package import KafkaPorts
internal import Streams
internal import Threads

/// One member of a consumer group, reading one topic.
///
/// It commits no offsets, and only the caller takes and gives back partitions: ``poll(timeoutMilliseconds:)`` returns a change of assignment as a value, and the group waits for
/// ``assign(_:)`` or ``unassign()``.
package final class Consumer {
    /// Asked at each call, in release builds too: steps of one partition on two threads may end the process.
    var owner = Owner("Consumer", every: 1)
    package let topic: String
    let handle: ClientHandle
    /// The block that takes the next message.
    private var block: MessageBlock?
    private var hasUnansweredChange = false
    private var isClosed = false

    /// - Parameters:
    ///   - properties: librdkafka's settings; those of producers are left out. `group.id` is required.
    ///   - topic: one topic's name, no pattern.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(_ properties: KafkaProperties, topic: String) throws(KafkaFault) {
        guard topic.isTopicName else { throw .invalid("\(topic.debugDescription) is not a topic name") }
        guard properties["group.id"].map({ !$0.isEmpty }) ?? false else {
            throw .invalid("kafka property group.id is required")
        }
        let complete = properties.completed(defaults: Self.defaults, forced: Self.forced)
        // Partitions are taken and given back as a whole. Before 2.10.0 (#4381, #4528, #4800, #4908) the cooperative
        // protocol also ends the process, hangs, or loses an assignment.
        if let strategy = complete["partition.assignment.strategy"], strategy.contains("cooperative") {
            throw .invalid("kafka property partition.assignment.strategy: \(strategy) is not supported, use range")
        }
        self.topic = topic
        handle = try ClientHandle(.consumer, complete, context: CallbackContext(topic: topic))
        handle.serveWithMessages()
    }

    deinit {
        // Destroying the client closes it and runs the rebalance callback, which must then give everything back.
        handle.context.isClosing = true
    }

    private static let defaults = [
        ("auto.offset.reset", "earliest"), ("isolation.level", "read_committed"), ("check.crcs", "true"),
        ("partition.assignment.strategy", "range"), ("socket.nagle.disable", "true"),
        ("socket.keepalive.enable", "true"),
        // At either limit the next fetch waits a second: each limit is more than that second's records.
        ("queued.min.messages", "1000000"), ("queued.max.messages.kbytes", "262144"),
    ]

    private static let forced = [("enable.auto.commit", "false"), ("enable.auto.offset.store", "false")]

    /// Joins the group. Returns at once; the assignment comes through ``poll(timeoutMilliseconds:)``.
    package func subscribe() throws(KafkaFault) {
        owner.check()
        let list = TopicPartitionList(topic: topic, partitions: [-1])
        // The library copies the list.
        let code = unsafe list.withPointer { unsafe rd_kafka_subscribe(handle.pointer, $0) }
        try KafkaFault.check(code, "subscribing to \(topic)")
    }

    /// One event, or nil when none came in time.
    ///
    /// - Throws: a fatal ``KafkaFault`` when this member can read no more (fenced, for example).
    package func poll(timeoutMilliseconds: Int) throws(KafkaFault) -> ConsumerEvent? {
        owner.check()
        precondition(!isClosed, "a closed consumer is not polled")
        if let change = takeChange() { return .change(change) }
        // Rebalance and error callbacks run inside this call, on this thread.
        guard let message = unsafe rd_kafka_consumer_poll(handle.pointer, clampedMilliseconds(timeoutMilliseconds))
        else {
            // Messages that were dropped are freed now, and not when the block is full.
            block = nil
            return takeChange().map { .change($0) }
        }
        if unsafe message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR { return unsafe .message(kept(message)) }
        // Ours until destroyed; everything is copied before.
        defer { unsafe rd_kafka_message_destroy(message) }
        return try unsafe event(ofError: message)
    }

    private func kept(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> ConsumedMessage {
        let open = if let block, !block.isFull { block } else { MessageBlock(topic: topic, handle) }
        block = open
        // The block owns it from here on.
        return unsafe open.keep(message)
    }

    private func takeChange() -> GroupChange? {
        guard !handle.context.changes.isEmpty else { return nil }
        assert(!isClosed && !handle.context.isClosing, "nobody answers a change of a consumer that closes")
        hasUnansweredChange = true
        return handle.context.changes.removeFirst()
    }

    private func event(
        ofError message: UnsafeMutablePointer<rd_kafka_message_t>
    ) throws(KafkaFault) -> ConsumerEvent {
        let code = unsafe message.pointee.err
        let partition = unsafe message.pointee.partition
        if code == RD_KAFKA_RESP_ERR__PARTITION_EOF {
            return unsafe .endOfPartition(PartitionOffset(partition: partition, offset: message.pointee.offset))
        }
        if let fatal = handle.fatalFault { throw fatal }
        let text = unsafe String(cString: rd_kafka_message_errstr(message))
        let fault = KafkaFault(code, "reading \(topic), partition \(partition): \(text)")
        return unsafe .notice(fault.reading(partition, at: message.pointee.offset))
    }

    /// Leaves the group (a static member stays in it) and closes the connections to it. Blocks while it does.
    package func close() throws(KafkaFault) {
        owner.check()
        guard !isClosed else { return }
        isClosed = true
        handle.context.leave()
        handle.context.isClosing = true
        handle.context.changes.removeAll()
        if hasUnansweredChange {
            // The group waits for an answer to the last change; without one, closing would never end.
            _ = unsafe rd_kafka_assign(handle.pointer, nil)
        }
        // Rebalance callbacks run inside this call, on this thread.
        let code = unsafe rd_kafka_consumer_close(handle.pointer)
        try KafkaFault.check(code, "leaving the group")
    }

    /// Closes on a separate thread, like ``close()``: after the limit the client goes on leaving its group, and nobody
    /// waits. No other call follows.
    func close(limitMilliseconds: Int) throws(KafkaFault) {
        let outcome = CloseOutcome()
        owner.release()
        try ClientCloser.shared.run("leaving the group", limitMilliseconds: limitMilliseconds) { [self] in
            do throws(KafkaFault) { try close() } catch { outcome.fault = error }
        }
        if let fault = outcome.fault { throw fault }
    }

    /// Closes on a separate thread, like ``close()``, and nobody waits. No other call follows.
    func closeAside() {
        owner.release()
        ClientCloser.shared.end(handle.name) { [self] in try? close() }
    }

    func answeredChange() { hasUnansweredChange = false }
}

/// Written by the thread that closes a consumer, and read once that has returned.
private final class CloseOutcome {
    var fault: KafkaFault?
}

/// The outcome of one call of ``Consumer/poll(timeoutMilliseconds:)``.
package enum ConsumerEvent: Sendable {
    case message(ConsumedMessage)
    case change(GroupChange)
    /// Only with `enable.partition.eof=true`; the offset is the partition's end.
    case endOfPartition(PartitionOffset)
    /// A fault that the library recovers from by itself, or that concerns one partition.
    case notice(KafkaFault)
}
