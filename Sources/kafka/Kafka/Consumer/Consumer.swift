internal import CRdkafka
package import KafkaPorts
internal import Streams
internal import Threads

/// One member of a consumer group on librdkafka, reading one topic. It translates memory, units, callbacks and texts, and
/// holds no rule.
///
/// Only the caller takes and gives back partitions: ``poll(waiting:)`` gives a change of assignment as an event, and the
/// group waits for ``assign(_:)`` or ``unassign()``.
///
/// Two threads that issue steps of one partition could make the library drop a stop, and then the next start would end the
/// process: each call is checked, in release builds too.
package final class Consumer: GroupConsumer {
    private var owner = Owner("Consumer", every: 1)
    package let topic: String
    /// nil once it was closed or given up.
    private var lease: ConsumerLease?
    private var handle: ClientHandle? { lease?.handle }
    private var commits: OffsetCommits?
    /// The block that takes the next message.
    private var block: MessageBlock?
    /// The message before: only the next one tells how large its headers are.
    private(set) var last: ConsumedMessage?
    var hasUnansweredChange = false
    /// The last observations of a client that is gone.
    private var lastObservations = ConsumerObservations()

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
        let handle = try ClientHandle(.consumer, complete, context: CallbackContext(topic: topic))
        handle.serveWithMessages()
        (self.topic, lease) = (topic, ConsumerLease(handle))
        commits = OffsetCommits(handle, topic: topic)
    }

    private static let defaults = [
        ("auto.offset.reset", "earliest"), ("isolation.level", "read_committed"), ("check.crcs", "true"),
        ("partition.assignment.strategy", "range"), ("socket.nagle.disable", "true"),
        ("socket.keepalive.enable", "true"),
        // At either limit the next fetch waits a second: each limit is more than that second's records.
        ("queued.min.messages", "1000000"), ("queued.max.messages.kbytes", "262144"),
    ]

    private static let forced = [("enable.auto.commit", "false"), ("enable.auto.offset.store", "false")]

    var current: ClientHandle? {
        if handle != nil { owner.check() }
        return handle
    }

    func open() throws(KafkaFault) -> ClientHandle {
        guard let handle = current else { throw .stale("the consumer of \(topic) is closed") }
        return handle
    }

    /// The inquiries that others may make of this client while its own thread polls.
    package var inquiry: GroupInquiry? { lease.map { GroupInquiry($0, topic: topic) } }

    /// See ``GroupInquiry/committed(_:timeoutMilliseconds:)``.
    package func committed(_ partitions: [Int32], timeoutMilliseconds: Int) throws(KafkaFault) -> [CommittedOffset] {
        try open().committed(topic, partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Asks the broker. With `isolation.level=read_committed` the high one ends before open transactions.
    package func watermarks(of partition: Int32, timeoutMilliseconds: Int) throws(KafkaFault) -> Watermarks {
        try open().watermarks(of: topic, partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    package var isOutdated: Bool { current?.isOutdated ?? false }

    package func explained(_ fault: KafkaFault) -> KafkaFault { current?.explained(fault) ?? fault }

    package var observations: ConsumerObservations { current?.context.observations ?? lastObservations }

    // MARK: - Events

    package func poll(waiting milliseconds: Int) -> GroupEvent? {
        guard let handle = current else { return nil }
        var left = milliseconds
        while true {
            if let answer = commits?.nextAnswer() { return answer }
            // An offset commit's answer comes by a separate queue.
            let slice = commits?.isEmpty == false ? min(left, Self.sliceMilliseconds) : left
            if let event = nextEvent(handle, slice) { return event }
            left -= slice
            guard left > 0 else { return commits?.nextAnswer() }
        }
    }

    private static let sliceMilliseconds = 10

    private func nextEvent(_ handle: ClientHandle, _ milliseconds: Int) -> GroupEvent? {
        // Nothing but a message keeps the one before, and so its block's memory.
        let before = last
        last = nil
        if let change = takeChange(handle) { return change }
        // Rebalance and error callbacks run inside this call, on this thread.
        guard let message = unsafe rd_kafka_consumer_poll(handle.pointer, clampedMilliseconds(milliseconds)) else {
            // Messages that were dropped are freed now, and not when the block is full.
            block = nil
            return takeChange(handle)
        }
        guard unsafe message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR else {
            return unsafe kept(message, after: before, handle)
        }
        // Ours until destroyed; everything is copied before.
        defer { unsafe rd_kafka_message_destroy(message) }
        return unsafe event(ofError: message, handle)
    }

    private func kept(
        _ message: UnsafeMutablePointer<rd_kafka_message_t>,
        after before: ConsumedMessage?,
        _ handle: ClientHandle
    ) -> GroupEvent {
        let open = if let block, !block.isFull { block } else { MessageBlock(topic: topic, handle) }
        // The block owns it from here on.
        let kept = unsafe open.keep(message)
        (block, last) = (open, kept)
        return .record(kept.record, bytes: kept.byteCount + (before.map(kept.headerBytes) ?? 0))
    }

    private func takeChange(_ handle: ClientHandle) -> GroupEvent? {
        guard !handle.context.changes.isEmpty else { return nil }
        assert(!handle.context.isClosing, "nobody answers a change of a consumer that closes")
        hasUnansweredChange = true
        return handle.context.changes.removeFirst()
    }

    private func event(
        ofError message: UnsafeMutablePointer<rd_kafka_message_t>,
        _ handle: ClientHandle
    ) -> GroupEvent {
        let (code, partition) = unsafe (message.pointee.err, message.pointee.partition)
        if code == RD_KAFKA_RESP_ERR__PARTITION_EOF {
            return unsafe .end(PartitionOffset(partition: partition, offset: message.pointee.offset))
        }
        if let fatal = handle.fatalFault { return .fault(handle.running(fatal)) }
        let text = unsafe String(cString: rd_kafka_message_errstr(message))
        let fault = KafkaFault(code, "reading \(topic), partition \(partition): \(text)")
        return unsafe .fault(handle.running(fault.reading(partition, at: message.pointee.offset)))
    }

    package func commit(_ offsets: [PartitionOffset]) throws(KafkaFault) -> CommitID {
        _ = try open()
        guard let commits else { throw .fatal("out of memory") }
        return try commits.send(offsets)
    }

    package var hasOpenCommit: Bool { commits?.isEmpty == false }

    // MARK: - The end

    /// Leaves on a separate thread: after the limit the client goes on leaving its group, and nobody waits.
    package func close(limit milliseconds: Int) throws(KafkaFault) {
        guard let handle = release() else { return }
        let (isDue, outcome) = (hasUnansweredChange, Locked<KafkaFault?>(nil))
        try ClientCloser.shared.run("leaving the group", limitMilliseconds: milliseconds) {
            do throws(KafkaFault) { try handle.leaveGroup(answering: isDue) } catch { outcome.withLock { $0 = error } }
        }
        if let fault = outcome.withLock({ $0 }) { throw fault }
    }

    package func discard() {
        if let handle = release() { Self.leaveAside(handle, hasUnansweredChange) }
    }

    /// Nothing of this object uses the client any more.
    private func release() -> ClientHandle? {
        guard let handle = current else { return nil }
        lastObservations = handle.context.observations
        (lease, commits, block, last) = (nil, nil, nil, nil)
        return handle
    }

    deinit { if let handle { Self.leaveAside(handle, hasUnansweredChange) } }

    /// Leaves on a separate thread, and nobody waits.
    private static func leaveAside(_ handle: ClientHandle, _ isDue: Bool) {
        var held: ClientHandle? = handle
        ClientCloser.shared.end(handle.name) {
            try? held?.leaveGroup(answering: isDue)
            // Where it was the last reference, the client's end is counted before this one is over.
            held = nil
        }
    }
}

extension ClientHandle {
    /// Leaves the group (a static member stays in it) and closes the connections to it. Blocks while it does. Nobody polls
    /// any more.
    ///
    /// - Parameter isDue: whether the last change of assignment has no answer.
    fileprivate func leaveGroup(answering isDue: Bool) throws(KafkaFault) {
        context.leave()
        context.isClosing = true
        context.changes.removeAll()
        if isDue {
            // The group waits for an answer to the last change; without one, closing would never end.
            _ = unsafe rd_kafka_assign(pointer, nil)
        }
        // Rebalance callbacks run inside this call, on this thread.
        try KafkaFault.check(unsafe rd_kafka_consumer_close(pointer), "leaving the group")
    }
}

/// The client while its consumer is open: records that are held keep the client itself longer.
final class ConsumerLease: @unchecked Sendable {
    fileprivate let handle: ClientHandle

    init(_ handle: ClientHandle) { self.handle = handle }
}

/// Asks a group's client on any thread while its consumer's thread polls.
///
/// It keeps no client alive but for the time of a question, which goes on where the consumer is closed meanwhile.
package final class GroupInquiry: @unchecked Sendable {
    private weak let lease: ConsumerLease?
    private let topic: String

    init(_ lease: ConsumerLease, topic: String) { (self.lease, self.topic) = (lease, topic) }

    /// Every topic that the client may see.
    package func topics(timeoutMilliseconds: Int) throws(KafkaFault) -> [TopicDescription] {
        try open().topics(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The group's committed offsets, with their metadata.
    ///
    /// With `isolation.level=read_committed` it waits for transactions that have offsets of these partitions pending.
    ///
    /// - Throws: a ``KafkaFault``, a retriable one where such a transaction is still open when the time is up.
    package func committed(_ partitions: [Int32], timeoutMilliseconds: Int) throws(KafkaFault) -> [CommittedOffset] {
        try open().committed(topic, partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    private func open() throws(KafkaFault) -> ClientHandle {
        guard let handle = lease?.handle else { throw KafkaFault(.state, "the consumer is gone") }
        return handle
    }
}
