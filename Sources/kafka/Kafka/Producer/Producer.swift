internal import CRdkafka
package import KafkaPorts
package import Streams
internal import Threads

/// An idempotent producer (`acks=all`).
///
/// Records are queued by ``produce(topic:partition:key:value:headers:budgetMilliseconds:)`` and sent in the
/// background; only ``flush(timeoutMilliseconds:)`` confirms that they have arrived.
@safe
package final class Producer {
    var owner = Owner("Producer")
    let handle: ClientHandle
    private var partitionCounts: [String: Int32] = [:]
    /// Ours, given back before the client is.
    private var topics: [String: OpaquePointer] = unsafe [:]
    /// Records since delivery reports were last taken.
    private var unserved = 0

    /// - Parameters:
    ///   - properties: librdkafka's settings; those of consumers are left out.
    ///   - trackedTopic: the topic whose acknowledged offsets are noted.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package convenience init(_ properties: KafkaProperties, trackedTopic: String? = nil) throws(KafkaFault) {
        let context = CallbackContext()
        context.deliveredOffsets = trackedTopic.map { DeliveredOffsets(topic: $0) }
        // A batch that overtakes one before it may lose that one: see ``CallbackContext``.
        try self.init(properties, defaults: [("max.in.flight", "1")], forced: [], context: context)
    }

    /// A producer with its own settings on top of the usual ones.
    init(
        _ properties: KafkaProperties,
        defaults: [(String, String)],
        forced: [(String, String)],
        context: CallbackContext
    ) throws(KafkaFault) {
        let complete = properties.completed(defaults: Self.defaults + defaults, forced: Self.forced + forced)
        handle = try ClientHandle(.producer, complete, context: context)
    }

    deinit {
        unsafe topics.values.forEach { unsafe rd_kafka_topic_destroy($0) }
    }

    private static let defaults = [
        ("linger.ms", "5"), ("queue.buffering.max.messages", "1000000"), ("socket.nagle.disable", "true"),
        ("socket.keepalive.enable", "true"),
    ]

    private static let forced = [("enable.idempotence", "true"), ("acks", "all")]

    /// The outcomes of all records so far. Updated by every produce, poll and flush.
    package var summary: DeliverySummary {
        var summary = handle.context.deliveries
        if let offsets = handle.context.deliveredOffsets {
            (summary.firstLedgerOffsets, summary.lastLedgerOffsets) = (offsets.firstByPartition, offsets.byPartition)
            summary.ledgerTime = offsets.time
        }
        return summary
    }

    /// Takes the reports on records with tickets since the last call, in their order. Every produce, poll and flush
    /// adds to them.
    package func takeReports() -> [DeliveryReport] {
        var taken: [DeliveryReport] = []
        swap(&taken, &handle.context.reports)
        return taken
    }

    /// Forgets acknowledged offsets and the faults of records.
    func forgetTransaction() {
        (handle.context.deliveries.firstFault, handle.context.refusedTopic) = (nil, nil)
        handle.context.deliveredOffsets?.reset()
    }

    /// The fault after which only a new producer helps, if there is one.
    package var fatalFault: KafkaFault? { handle.fatalFault }

    /// Whether files that the client has read were renewed since: a new one reads those.
    package var isOutdated: Bool { handle.isOutdated }

    /// The last connection error, of a connection that may have come back since.
    package var connectionFault: KafkaFault? { handle.context.observations.connectionFault }

    /// The library's last statistics, JSON; empty = none came yet.
    package var statistics: [UInt8] { handle.context.observations.statistics }

    /// Records queued or in flight.
    package var outstanding: Int {
        // No pointers but the client's own.
        unsafe Int(rd_kafka_outq_len(handle.pointer))
    }

    /// Counts deliveries that ended meanwhile, waiting at most this long for the first one.
    package func poll(timeoutMilliseconds: Int) {
        owner.check()
        handle.serve(timeoutMilliseconds: clampedMilliseconds(timeoutMilliseconds))
    }

    /// The number of partitions, from the broker the first time and remembered from then on.
    package func partitionCount(of topic: String, timeoutMilliseconds: Int = 10_000) throws(KafkaFault) -> Int32 {
        if let count = partitionCounts[topic] { return count }
        for attempt in 1...Self.lookups {
            for description in try handle.topics(timeoutMilliseconds: timeoutMilliseconds)
            where description.partitions > 0 {
                partitionCounts[description.name] = Int32(clamping: description.partitions)
            }
            if let count = partitionCounts[topic] {
                open(topic)
                return count
            }
            // A topic that was just created reaches each broker after a while.
            if attempt < Self.lookups { handle.serve(timeoutMilliseconds: Self.lookupPauseMilliseconds) }
        }
        throw KafkaFault(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, "topic \(topic) does not exist")
    }

    /// Partition counts that another client got from the broker: a topic's first record then needs no lookup.
    package func know(_ counts: [String: Int32]) {
        for topic in counts.keys where partitionCounts[topic] == nil { open(topic) }
        partitionCounts.merge(counts) { $1 }
    }

    /// Makes the library look for the topic's leaders now, where it would do so a second after the first record.
    private func open(_ topic: String) {
        if LibraryVersion.current.looksLateForLeaders { _ = unsafe topicHandle(topic) }
    }

    /// Null only for a broken client, whose calls fail anyway.
    private func topicHandle(_ topic: String) -> OpaquePointer? {
        if let known = unsafe topics[topic] { return unsafe known }
        // Given back with this object.
        let made = unsafe rd_kafka_topic_new(handle.pointer, topic, nil)
        unsafe topics[topic] = made
        return unsafe made
    }

    /// - Throws: a ``KafkaFault`` where the topic does not exist or the broker does not say so.
    func target(_ topic: String) throws(KafkaFault) -> Target {
        let count = try partitionCount(of: topic)
        guard let pointer = unsafe topicHandle(topic) else { throw fatalFault ?? .fatal("no topic can be opened") }
        return unsafe Target(topic, partitions: count, pointer)
    }

    /// Opens connections to the leaders of topics whose counts are known, ahead of the first records, which would wait
    /// for them. What is not reached in time is left to those records.
    package func connect(to topics: [String], timeoutMilliseconds: Int) {
        for topic in topics {
            guard let count = partitionCounts[topic] else { continue }
            // The leaders' threads learn of the partitions now: idle ones sleep for up to a second.
            _ = unsafe topicHandle(topic)
            handle.wakeLeaders(of: topic, Array(0..<count), timeoutMilliseconds: timeoutMilliseconds)
        }
    }

    private static let lookups = 5
    private static let lookupPauseMilliseconds: Int32 = 200

    /// Queues one record for an explicit partition. Bytes are copied; nil is null and [] is empty.
    ///
    /// If the queue is full, waits for room, up to `budgetMilliseconds`.
    ///
    /// - Parameter ticket: names the record in ``takeReports()``, from 1; nil = no report.
    /// - Throws: a ``KafkaFault``; the record was then not queued, so its output must not be committed.
    package func produce(
        topic: String,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = [],
        ticket: UInt? = nil,
        budgetMilliseconds: Int = 60_000
    ) throws(KafkaFault) {
        try produce(to: target(topic), partition, key, value, HeaderList(headers), ticket, budgetMilliseconds)
        // Costs nothing when there are no reports.
        handle.serve()
    }

    /// The same for one of many records to a topic that was looked up before. Reports come every 64 records.
    func produce(
        to target: Target,
        _ partition: Int32,
        _ key: [UInt8]?,
        _ value: [UInt8]?,
        _ headers: @autoclosure () -> HeaderList,
        _ ticket: UInt? = nil,
        _ budgetMilliseconds: Int = 0
    ) throws(KafkaFault) {
        owner.check()
        // The library would queue a record for a partition that does not exist and fail it much later.
        guard (0..<target.partitions).contains(partition) else {
            throw KafkaFault(
                RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
                "topic \(target.topic) has no partition \(partition): the last one is \(target.partitions - 1)"
            )
        }
        var waited = 0
        while let fault = enqueue(target, partition, key, value, headers(), ticket) {
            guard fault.code == RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue, waited < budgetMilliseconds else {
                throw handle.explained(fault)
            }
            // Returns as soon as deliveries end, which makes room.
            poll(timeoutMilliseconds: Self.fullQueuePauseMilliseconds)
            waited += Self.fullQueuePauseMilliseconds
        }
        // Keeps the queue of delivery reports short.
        unserved += 1
        guard unserved >= Self.mostUnserved else { return }
        unserved = 0
        handle.serve()
    }

    private static let mostUnserved = 64
    private static let fullQueuePauseMilliseconds = 10

    /// Waits until every queued record is acknowledged or failed.
    ///
    /// - Throws: a ``KafkaFault`` naming the first record that failed since the last flush, or a timeout with some
    ///   still in flight. Either way their output must not be committed.
    package func flush(timeoutMilliseconds: Int) throws(KafkaFault) {
        let hasEnded = flushQueue(limit: timeoutMilliseconds)
        if let failure = handle.context.deliveries.firstFault {
            handle.context.deliveries.firstFault = nil
            throw handle.explained(failure).with(isFatal: failure.isFatal, requiresAbort: true)
        }
        if let fatal = fatalFault { throw fatal }
        guard !hasEnded else { return }
        let fault = KafkaFault.timedOut("records not acknowledged in \(timeoutMilliseconds) ms: \(outstanding)")
        throw handle.explained(fault).with(isFatal: false, requiresAbort: true)
    }

    /// Returns whether every queued record has an outcome, whatever that is.
    func flushQueue(limit milliseconds: Int) -> Bool {
        owner.check()
        // Delivery callbacks run inside this call, on this thread.
        return unsafe rd_kafka_flush(handle.pointer, clampedMilliseconds(milliseconds)) == RD_KAFKA_RESP_ERR_NO_ERROR
    }

    /// Drops all records queued or in flight, whose fate is unknown from then on, so that destroying the client waits for
    /// nothing.
    func purge() {
        handle.context.leave()
        let flags = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING
        // No pointers but the client's own.
        _ = unsafe rd_kafka_purge(handle.pointer, flags)
        handle.serve()
    }
}
