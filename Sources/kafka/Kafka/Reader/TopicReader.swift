internal import CRdkafka
package import KafkaPorts
internal import Streams
internal import Threads

/// Reads chosen partitions of one topic without a group: it can neither join nor commit. Only committed records, unless it
/// is asked for all of them.
///
/// Made for restoring a compacted topic: take ``watermarks(of:timeoutMilliseconds:)``, ``start(_:)``, then poll
/// until ``position(of:)`` reaches it. That ends even if the last offsets are aborted, compacted away or markers.
@safe
package final class TopicReader: RecordReading {
    private var owner = Owner("TopicReader")
    package let topic: String
    let handle: ClientHandle
    /// Ours, as is the queue; both are given back before the client is.
    private let topicPointer: OpaquePointer
    private let queue: OpaquePointer
    private let properties: KafkaProperties
    private var ends: PartitionEnds?
    private var reading: Set<Int32> = []
    /// How far each partition has been read: the largest offset that records and ends of partitions have shown.
    private var seen: [Int32: Int64] = [:]
    /// Partitions of which neither a record nor word of the end has come.
    private var unheard: Set<Int32> = []
    /// The last stable end of each partition that the library has reported.
    private var stableEnds: [Int32: Int64] = [:]
    /// A fault that came after records that were handed out first.
    private var pendingFault: KafkaFault?
    /// Records and bytes read since the leaders' threads were last woken.
    private var (readRecords, readBytes) = (0, 0)
    /// Records and bytes of the last poll: about what the next one will need.
    private var lastPacked = (records: 0, bytes: 0)

    /// - Parameters:
    ///   - properties: librdkafka's settings; those of producers, and the group, are left out.
    ///   - takesUncommitted: whether records of open and of aborted transactions come too.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(
        _ properties: KafkaProperties,
        topic: String,
        takesUncommitted: Bool = false
    ) throws(KafkaFault) {
        let level = takesUncommitted ? "read_uncommitted" : "read_committed"
        guard !topic.isEmpty else { throw .invalid("the topic name is empty") }
        let complete = properties.withoutGroup()
            .completed(
                defaults: Self.defaults + Self.fetchLimit(properties),
                forced: Self.forced + [("isolation.level", level)]
            )
        handle = try ClientHandle(.consumer, complete, context: CallbackContext())
        // The topic object keeps the client's default settings; null only for a broken client.
        guard let topicPointer = unsafe rd_kafka_topic_new(handle.pointer, topic, nil) else {
            throw .invalid("topic \(topic) cannot be read")
        }
        guard let queue = unsafe rd_kafka_queue_new(handle.pointer) else {
            unsafe rd_kafka_topic_destroy(topicPointer)
            throw .fatal("out of memory")
        }
        unsafe self.topicPointer = topicPointer
        unsafe self.queue = queue
        (self.topic, self.properties) = (topic, properties)
    }

    deinit {
        // Stopping waits for the library's own thread.
        unsafe handle.lastCall = { [reading, topicPointer, queue] in
            for partition in reading { _ = unsafe rd_kafka_consume_stop(topicPointer, partition) }
            unsafe rd_kafka_queue_destroy(queue)
            unsafe rd_kafka_topic_destroy(topicPointer)
        }
    }

    package var isOutdated: Bool { handle.isOutdated }

    package var hasHeardAll: Bool { unheard.isEmpty }

    private static let defaults = [
        ("check.crcs", "true"), ("socket.nagle.disable", "true"), ("socket.keepalive.enable", "true"),
        // The reader must learn that an offset is gone: data known up to it is out of date.
        ("auto.offset.reset", "error"),
    ]

    private static let forced =
        [
            ("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"),
            // The end of a partition gives the position if no readable record is at the end.
            ("enable.partition.eof", "true"),
            // The library itself needs about 210 B a record in addition to the payload: some tens of MiB in all,
            // however many records there are.
            ("queued.min.messages", String(queuedRecords)), ("queued.max.messages.kbytes", String(queuedBytes / 1024)),
        ] + (LibraryVersion.current.hasFetchBackoff ? [("fetch.queue.backoff.ms", "2")] : [])

    /// A fetch is a part of the queue. The library refuses a limit below the largest record's, or one that an answer may
    /// not reach: where the answer's size is set, so is this.
    private static func fetchLimit(_ properties: KafkaProperties) -> [(String, String)] {
        guard properties["receive.message.max.bytes"] == nil else { return [] }
        let largest = properties["message.max.bytes"].flatMap { Int($0) } ?? 0
        return [("fetch.max.bytes", String(max(queuedBytes / 4, largest)))]
    }

    private static let queuedRecords = 6_000
    private static let queuedBytes = 4_194_304
    private static let dryMilliseconds: Int32 = 1
    private static let wakeMilliseconds = 20

    /// Begins to read partitions at the given offsets (``PartitionOffset/beginning`` for the oldest record).
    ///
    /// A partition that does not exist gives no records and no fault; asking for its watermarks first reveals it.
    package func start(_ offsets: [PartitionOffset]) throws(KafkaFault) {
        owner.check()
        for start in offsets {
            let partition = start.partition
            precondition(!reading.contains(partition), "partition \(partition) is being read already")
            // The library keeps its own references to the topic and the queue.
            let code = unsafe rd_kafka_consume_start_queue(topicPointer, partition, start.offset, queue)
            if code != 0 {
                throw KafkaFault(rd_kafka_last_error(), doing: "reading \(topic), partition \(partition)")
            }
            reading.insert(partition)
            unheard.insert(partition)
            (seen[partition], stableEnds[partition]) = (start.offset >= 0 ? start.offset : nil, nil)
        }
    }

    package func connect(to partitions: [Int32], timeoutMilliseconds: Int) {
        handle.wakeLeaders(of: topic, partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Stops reading partitions; none of their records comes any more.
    package func stop(_ partitions: [Int32]) throws(KafkaFault) {
        owner.check()
        if let partition = pendingFault?.partition, partitions.contains(partition) { pendingFault = nil }
        for partition in partitions where reading.remove(partition) != nil {
            seen[partition] = nil
            unheard.remove(partition)
            // Waits for the library's own thread, not for a broker.
            if unsafe rd_kafka_consume_stop(topicPointer, partition) != 0 {
                throw KafkaFault(rd_kafka_last_error(), doing: "leaving \(topic), partition \(partition)")
            }
        }
    }

    /// The records that are ready, in each partition's order; an empty answer when none came in time.
    ///
    /// - Throws: a ``KafkaFault`` of a partition: an offset that is gone, a damaged record, a refusal. Records read
    ///   before it have been handed out. The library recovers from connection faults; they show only as time passing.
    package func records(most: Int, waiting milliseconds: Int) throws(KafkaFault) -> [TopicRecord] {
        var records: [TopicRecord] = []
        // Everything in the message is copied.
        unsafe try poll(most, milliseconds) { message in
            let record = unsafe InboundRecord(copying: message, topic: topic)
            records.append(
                TopicRecord(
                    partition: record.partition,
                    offset: record.offset,
                    key: record.key,
                    value: record.value,
                    timestamp: record.timestamp,
                    headers: record.hasReadableHeaders ? record.headers : nil
                )
            )
        }
        return records
    }

    /// Polls like ``records(most:waiting:)``, into one piece of memory.
    package func poll(most records: Int, waiting milliseconds: Int) throws(KafkaFault) -> LedgerChunk {
        var packed = PackedRecords(like: lastPacked)
        // Everything in the message is copied.
        unsafe try poll(records, milliseconds) { unsafe packed.append($0) }
        lastPacked = (packed.places.count, packed.bytes.count)
        return packed.chunk()
    }

    private func poll(
        _ maxRecords: Int,
        _ timeoutMilliseconds: Int,
        _ take: (UnsafeMutablePointer<rd_kafka_message_t>) -> Void
    ) throws(KafkaFault) {
        owner.check()
        if let fault = pendingFault {
            pendingFault = nil
            throw fault
        }
        handle.serve()
        var count = 0
        var timeout = clampedMilliseconds(timeoutMilliseconds)
        // A message is ours until destroyed, after everything in it was copied.
        while count < maxRecords, let message = unsafe next(timeout) {
            defer { unsafe rd_kafka_message_destroy(message) }
            timeout = 0
            guard unsafe message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR else {
                let partition = unsafe message.pointee.partition
                // A message of a partition that is no longer read may still lie in the queue.
                guard reading.contains(partition) else { continue }
                let offset = unsafe message.pointee.offset
                assert(offset >= seen[partition] ?? 0, "records of a partition come in their order, each once")
                // The message is whole: `take` reads it and keeps nothing.
                unsafe take(message)
                advance(partition, to: offset + 1)
                unsafe noteRead(message.pointee.len)
                count += 1
                continue
            }
            guard let fault = unsafe fault(in: message) else { continue }
            guard count > 0 else { throw fault }
            pendingFault = fault
            break
        }
    }

    /// - Returns: a message for the caller to destroy; nil when none came in time.
    private func next(_ timeout: Int32) -> UnsafeMutablePointer<rd_kafka_message_t>? {
        guard timeout > Self.dryMilliseconds, mayBeAsleep else { return unsafe rd_kafka_consume_queue(queue, timeout) }
        if let message = unsafe rd_kafka_consume_queue(queue, Self.dryMilliseconds) { return unsafe message }
        (readRecords, readBytes) = (0, 0)
        handle.wakeLeaders(of: topic, reading.sorted(), timeoutMilliseconds: Self.wakeMilliseconds)
        return unsafe rd_kafka_consume_queue(queue, timeout)
    }

    /// The queue may have been full since the leaders' threads were last woken; half of it, as it holds more than
    /// records.
    private var mayBeAsleep: Bool {
        !LibraryVersion.current.hasFetchBackoff
            && (readRecords >= Self.queuedRecords / 2 || readBytes >= Self.queuedBytes / 2)
    }

    private func noteRead(_ bytes: Int) {
        readRecords += 1
        readBytes += bytes
    }

    private func advance(_ partition: Int32, to offset: Int64) {
        seen[partition] = max(seen[partition] ?? offset, offset)
        unheard.remove(partition)
    }

    private func fault(in message: UnsafeMutablePointer<rd_kafka_message_t>) -> KafkaFault? {
        let code = unsafe message.pointee.err
        let partition = unsafe message.pointee.partition
        guard reading.contains(partition) else { return nil }
        guard code != RD_KAFKA_RESP_ERR__PARTITION_EOF else {
            unsafe advance(partition, to: message.pointee.offset)
            unsafe stableEnds[partition] = message.pointee.offset
            return nil
        }
        let text = unsafe String(cString: rd_kafka_message_errstr(message))
        return KafkaFault(code, "reading \(topic), partition \(partition): \(text)").reading(partition)
    }

    /// The offset before which everything readable has been handed out; nil if nothing is known yet.
    ///
    /// It moves over markers, aborted records and compacted ones once ``records(most:waiting:)`` has
    /// reached them.
    package func position(of partition: Int32) -> Int64? {
        let list = TopicPartitionList(topic: topic, partitions: [partition])
        // The library fills the list in and does not keep it.
        let code = unsafe list.withPointer { unsafe rd_kafka_position(handle.pointer, $0) }
        let reported = code == RD_KAFKA_RESP_ERR_NO_ERROR ? list.offsets().first?.offset ?? -1 : -1
        let position = max(reported, seen[partition] ?? -1)
        return position >= 0 ? position : nil
    }

    /// Whether everything up to the last stable offset has been handed out, as the leader last said.
    package func isAtEnd(of partition: Int32) -> Bool {
        stableEnds[partition].map { $0 == seen[partition] } ?? false
    }

    /// The client ends with this object.
    package func discard() {}

    package func watermarks(of partition: Int32, timeoutMilliseconds: Int) throws(KafkaFault) -> Watermarks {
        let asker = if let ends { ends } else { try PartitionEnds(properties) }
        ends = asker
        return try asker.watermarks(of: topic, partition, timeoutMilliseconds: timeoutMilliseconds)
    }
}
