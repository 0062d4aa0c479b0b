internal import CRdkafka
package import KafkaPorts

extension Consumer {
    /// A fault of ``topics(timeoutMilliseconds:)`` or ``committed(_:timeoutMilliseconds:)`` with its cause. Call it on
    /// the thread that polls.
    package func explained(_ fault: KafkaFault) -> KafkaFault { handle.explained(fault) }

    /// Every topic that this client may see. May be called while another thread polls.
    package func topics(timeoutMilliseconds: Int) throws(KafkaFault) -> [TopicDescription] {
        try handle.topics(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The group's committed offsets, with their metadata.
    ///
    /// May be called while another thread polls.
    ///
    /// With `isolation.level=read_committed` it waits for transactions that have offsets of these partitions pending.
    ///
    /// - Throws: a ``KafkaFault``, a retriable one where such a transaction is still open when the time is up.
    package func committed(
        _ partitions: [Int32],
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [CommittedOffset] {
        guard !partitions.isEmpty else { return [] }
        let list = TopicPartitionList(topic: topic, partitions: partitions)
        let timeout = clampedMilliseconds(timeoutMilliseconds)
        // The library fills the list in and does not keep it.
        let code = unsafe list.withPointer { unsafe rd_kafka_committed(handle.pointer, $0, timeout) }
        let action = "reading the committed offsets of \(topic)"
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw handle.explainedAside(KafkaFault(code, doing: action)) }
        if let fault = list.firstFault(action) { throw fault }
        return list.committed()
    }

    /// The positions: the offset after the last record delivered; nil before the first one.
    package func positions(_ partitions: [Int32]) throws(KafkaFault) -> [(partition: Int32, offset: Int64?)] {
        let list = TopicPartitionList(topic: topic, partitions: partitions)
        // The library fills the list in and does not keep it.
        let code = unsafe list.withPointer { unsafe rd_kafka_position(handle.pointer, $0) }
        try KafkaFault.check(code, "asking for the position in \(topic)")
        if let fault = list.firstFault("asking for the position in \(topic)") { throw fault }
        return list.offsets().map { ($0.partition, $0.offset >= 0 ? $0.offset : nil) }
    }

    /// Errors that the client has reported so far, by librdkafka's names. Call it on the thread that polls.
    package var errorCounts: [String: Int] { handle.context.errorCounts }

    /// The last connection error, of a connection that may have come back since.
    package var connectionFault: KafkaFault? { handle.context.lastConnectionFault }

    /// Connections so far that were refused for what only a new client would change. Call it on the thread that polls.
    package var refusals: Int { handle.context.refusals }

    /// The library's last statistics, JSON; empty = none came yet. Call it on the thread that polls.
    package var statistics: [UInt8] { handle.context.statistics }

    /// Asks the broker. With `isolation.level=read_committed` the high one ends before open transactions.
    package func watermarks(of partition: Int32, timeoutMilliseconds: Int) throws(KafkaFault) -> Watermarks {
        try handle.watermarks(of: topic, partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Commits the next offsets to read and waits for the broker's answer.
    ///
    /// - Parameter goesOn: asked four times a second during the call, and may poll; false gives the call up.
    /// - Throws: a ``KafkaFault``; after a timeout the outcome is unknown. ``KafkaFault/requiresAbort`` is set where
    ///   the group has moved on: another member may own the partitions already.
    package func commit(
        _ offsets: [PartitionOffset],
        timeoutMilliseconds: Int,
        goesOn: () -> Bool = { true }
    ) throws(KafkaFault) {
        guard !offsets.isEmpty else { return }
        let action = "committing offsets of \(topic)"
        let list = TopicPartitionList(topic: topic, offsets: offsets)
        // An own queue bounds the wait; rd_kafka_commit itself would wait for as long as the broker is absent.
        guard let queue = unsafe rd_kafka_queue_new(handle.pointer) else { throw .fatal("out of memory") }
        defer { unsafe rd_kafka_queue_destroy(queue) }
        // The library copies the list.
        let code = unsafe list.withPointer { unsafe rd_kafka_commit_queue(handle.pointer, $0, queue, nil, nil) }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw handle.explained(KafkaFault(code, doing: action)) }
        var left = max(1, timeoutMilliseconds)
        var answer: OpaquePointer?
        repeat {
            unsafe answer = rd_kafka_queue_poll(queue, clampedMilliseconds(min(left, Self.sliceMilliseconds)))
            left -= Self.sliceMilliseconds
        } while unsafe answer == nil && left > 0 && goesOn()
        guard let event = unsafe answer else {
            throw handle.explained(.timedOut("\(action): no answer in \(timeoutMilliseconds) ms", requiresAbort: true))
        }
        // Ours until destroyed.
        defer { unsafe rd_kafka_event_destroy(event) }
        if let fault = unsafe Self.commitFault(in: event, action) { throw handle.explained(fault) }
    }

    private static let sliceMilliseconds = 250

    private static func commitFault(in event: OpaquePointer, _ action: String) -> KafkaFault? {
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return KafkaFault(code, doing: action) }
        // The event owns the list; a partition may fail alone.
        guard let list = unsafe rd_kafka_event_topic_partition_list(event) else { return nil }
        return unsafe TopicPartitionList.firstFault(in: list, action)
    }
}
