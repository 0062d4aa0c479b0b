internal import CRdkafka
package import KafkaPorts

/// A producer whose records become visible together with the offsets of their sources, or not at all.
///
/// Call ``initTransactions(timeoutMilliseconds:)`` once, then repeat ``begin()``, records, offsets, and
/// ``commit(timeoutMilliseconds:)`` or ``abort(timeoutMilliseconds:)``. For one thread at a time.
///
/// Of a fault that a call throws, test ``KafkaFault/isFatal`` first (only a new producer with the same id helps; that
/// is an ordinary way out), then ``KafkaFault/requiresAbort``, then ``KafkaFault/isRetriable`` (the same call, the same
/// arguments); treat any other fault as fatal.
package final class TransactionalProducer {
    package let transactionalID: String
    let producer: Producer
    private let requests = RequestCounts()
    /// Why the open transaction must not be committed; nil while it may be.
    private var spoilage: KafkaFault?
    /// Offsets that could not be sent, but may be tried again.
    private var unsentOffsets: [TransactionOffsets] = []
    /// Set while a call is in progress that was given up.
    private var abandonment: KafkaFault?
    /// Failed deliveries before the open transaction, and those that may not have been sent.
    private var (failedBefore, unsentBefore) = (0, 0)
    /// A call for offsets ended without a final answer.
    var hasOpenOffsets = false

    /// - Parameters:
    ///   - properties: librdkafka's settings; those of consumers are left out.
    ///   - transactionalID: stable over restarts, and of one live producer at a time: a newer one fences the older.
    ///   - trackedTopic: the topic of ``deliveredOffsets``.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(
        _ properties: KafkaProperties,
        transactionalID: String,
        trackedTopic: String? = nil
    ) throws(KafkaFault) {
        guard !transactionalID.isEmpty else { throw .invalid("transactional.id is empty") }
        let context = CallbackContext()
        context.requests = requests
        context.deliveredOffsets = trackedTopic.map { DeliveredOffsets(topic: $0) }
        self.transactionalID = transactionalID
        producer = try Producer(
            properties,
            defaults: Self.defaults,
            forced: [("transactional.id", transactionalID)],
            context: context
        )
        try requests.requireCounting()
    }

    /// The transaction's life if no property sets it: long enough for a partition's leader to change. The successor of
    /// a stable id aborts an orphaned transaction anyway.
    package static let defaultTimeoutMilliseconds = 30_000

    private static let defaults = [
        ("transaction.timeout.ms", String(defaultTimeoutMilliseconds)),
        // A call that waits for a broker checks its time only when a connection has failed, so that must come soon.
        ("reconnect.backoff.max.ms", "1000"),
    ]

    var handle: ClientHandle { producer.handle }

    /// The fault after which only a new producer helps, if there is one.
    package var fatalFault: KafkaFault? { abandonment ?? producer.fatalFault }

    /// Why ``commit(timeoutMilliseconds:)`` would refuse the open transaction, as far as this object knows.
    package var commitObstacle: KafkaFault? {
        if let fatal = fatalFault { return fatal }
        if let spoilage { return spoilage }
        if hasLostRecord {
            let failure = handle.context.firstFailure ?? .stale("a record was not delivered")
            return failure.judged(isFatal: false, requiresAbort: true)
        }
        return unsentOffsets.first.map { .stale("the offsets of \($0.topic) are not in the transaction") }
    }

    /// Whether a copy of a transaction request may still be on its way to a broker, although commit or abort succeeded.
    /// It could end a later transaction of this producer, or move its offsets: discard the producer before the next
    /// ``begin()``. For the next producer such a copy has an older epoch, which the broker refuses.
    ///
    /// Counted since the producer was made, so that a late answer to an earlier request cannot hide a copy.
    package var mayHaveRepeats: Bool {
        hasUnansweredRequest || requests.unanswered(.endTransaction) > 0
    }

    /// Whether a request that adds to the transaction may still be on its way.
    package var hasUnansweredRequest: Bool {
        let additions: [RequestCounts.Kind] = [
            .addPartitionsToTransaction, .addOffsetsToTransaction, .transactionalOffsetCommit,
        ]
        return additions.contains { requests.unanswered($0) > 0 }
    }

    /// Whether the library has no request left that adds to the transaction, neither on its way nor to be sent or
    /// repeated: partitions are registered before their first record is sent, and offsets within their call.
    var isSettled: Bool {
        outstanding == 0 && handle.context.unsent == unsentBefore && !hasOpenOffsets && !hasUnansweredRequest
    }

    /// Requests for the transactional id that may still be on their way: each may fence the id's owner at that time.
    package var unansweredInits: Int { requests.unanswered(.initProducerID) }

    private var hasLostRecord: Bool { deliveries.failed > failedBefore }

    /// The counts of delivered and failed records so far. Updated by every produce, poll, flush, commit and abort.
    package var deliveries: DeliveryCounts { producer.deliveries }

    /// Records queued or in flight.
    package var outstanding: Int { producer.outstanding }

    /// The highest acknowledged offset by partition of the tracked topic, among the records since the last ``begin()``.
    ///
    /// Complete after a commit, except for a record that was sent twice and whose offset the broker did not repeat.
    package var deliveredOffsets: [Int32: Int64] { handle.context.deliveredOffsets?.byPartition ?? [:] }

    /// The lowest one, likewise: if a record lies before the known end of its partition, the partition was cut.
    package var firstDeliveredOffsets: [Int32: Int64] { handle.context.deliveredOffsets?.firstByPartition ?? [:] }

    /// Counts deliveries that ended meanwhile, waiting at most this long for the first one.
    package func poll(timeoutMilliseconds: Int) { producer.poll(timeoutMilliseconds: timeoutMilliseconds) }

    /// The number of partitions, from the broker the first time and remembered from then on.
    package func partitionCount(of topic: String, timeoutMilliseconds: Int = 10_000) throws(KafkaFault) -> Int32 {
        try producer.partitionCount(of: topic, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// See ``Producer/know(_:)``.
    package func know(_ counts: [String: Int32]) { producer.know(counts) }

    /// See ``Producer/connect(to:timeoutMilliseconds:)``.
    package func connect(to topics: [String], timeoutMilliseconds: Int) {
        producer.connect(to: topics, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Queues one record; see ``Producer/produce(topic:partition:key:value:headers:patienceMilliseconds:)``.
    ///
    /// - Throws: a ``KafkaFault``. Unless it ``KafkaFault/isQueueFull`` (the record may be tried again) the transaction
    ///   can only be aborted; the library itself does not enforce that.
    package func produce(
        topic: String,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [KafkaHeader] = [],
        patienceMilliseconds: Int = 60_000
    ) throws(KafkaFault) {
        if let abandonment { throw abandonment }
        do throws(KafkaFault) {
            try producer.produce(
                topic: topic,
                partition: partition,
                key: key,
                value: value,
                headers: headers,
                patienceMilliseconds: patienceMilliseconds
            )
        } catch {
            throw error.isQueueFull ? error : spoiled(error)
        }
    }

    /// Waits until every queued record is acknowledged or failed; see ``Producer/flush(timeoutMilliseconds:)``.
    ///
    /// - Throws: a ``KafkaFault``, retriable where records are still in flight.
    package func flush(timeoutMilliseconds: Int) throws(KafkaFault) {
        if let abandonment { throw abandonment }
        do throws(KafkaFault) { try producer.flush(timeoutMilliseconds: timeoutMilliseconds) } catch {
            guard error.isTimeout, !hasLostRecord else { throw spoiled(error) }
            // Records still in flight do no harm: the commit waits for them.
            throw error.judged(isFatal: false, requiresAbort: false)
        }
    }

    /// Drops all records queued or in flight, so that destroying this producer waits for nothing. Not for any other
    /// use: the fate of the records is unknown from then on.
    package func purge() {
        handle.context.leave()
        let flags = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING
        // No pointers but the client's own.
        _ = unsafe rd_kafka_purge(handle.pointer, flags)
        handle.serve()
        _ = spoiled(.stale("the transaction's records were dropped"))
    }

    /// Marks the transaction as one that cannot be committed, and returns the fault that says so.
    func spoiled(_ fault: KafkaFault) -> KafkaFault {
        if let fatal = fatalFault { return fatal }
        let judged = named(fault).judged(isFatal: fault.isFatal, requiresAbort: true)
        spoilage = spoilage ?? judged
        return judged
    }

    /// The fault does not name a refused topic, only the log does.
    private func named(_ fault: KafkaFault) -> KafkaFault {
        guard let topic = handle.context.refusedTopic else { return fault }
        // The library drops all records of a transaction whose partitions were refused: a flush sees that first.
        if fault.isPurge {
            return KafkaFault(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, fault.message).refusing(topic: topic)
        }
        return fault.refusedResource == .topic ? fault.refusing(topic: topic) : fault
    }

    func abandoned(_ fault: KafkaFault) -> KafkaFault {
        abandonment = fault
        return fault
    }

    func noteOffsets(_ offsets: TransactionOffsets, wereSent: Bool) {
        unsentOffsets.removeAll { $0 == offsets }
        if !wereSent { unsentOffsets.append(offsets) }
    }

    /// Forgets the previous transaction, for a new one or none.
    func forgetTransaction() {
        spoilage = nil
        unsentOffsets = []
        failedBefore = deliveries.failed
        unsentBefore = handle.context.unsent
        hasOpenOffsets = false
        handle.context.firstFailure = nil
        handle.context.refusedTopic = nil
        handle.context.deliveredOffsets?.reset()
    }
}

/// The offsets of one call; a retry must pass the same ones.
struct TransactionOffsets: Equatable {
    var topic: String
    var offsets: [PartitionOffset]
}
