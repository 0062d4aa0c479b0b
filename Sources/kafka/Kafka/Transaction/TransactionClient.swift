internal import CRdkafka
internal import Glibc
package import KafkaPorts
internal import Streams

/// librdkafka's transactional producer: its calls as they are, with faults that say what they mean. The rules are its
/// callers': see ``TransactionGuard``.
package final class TransactionClient: OutputClient, TransactionProducer {
    /// The transaction's life if no property sets it: long enough for a partition's leader to change. The successor of
    /// a stable id aborts an orphaned transaction anyway.
    package static let defaultTimeoutMilliseconds = 30_000

    private let transactionalID: String
    private let source: String
    private let requests: RequestCounts
    /// Set while a call is in progress that was given up.
    private var abandonment: KafkaFault?

    /// - Parameters:
    ///   - properties: librdkafka's settings; those of consumers are left out.
    ///   - transactionalID: stable over restarts, and of one live producer at a time: a newer one fences the older.
    ///   - source: the topic whose offsets are sent.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(
        _ properties: KafkaProperties,
        transactionalID: String,
        source: String = "",
        _ route: OutputRoute = .none
    ) throws(KafkaFault) {
        guard !transactionalID.isEmpty else { throw .invalid("transactional.id is empty") }
        let (context, requests) = (CallbackContext(), RequestCounts())
        context.requests = requests
        context.deliveredOffsets = route.topics[.ledger].map { DeliveredOffsets(topic: $0) }
        let producer = try Producer(
            properties,
            defaults: TransactionClient.defaults,
            forced: [("transactional.id", transactionalID)],
            context: context
        )
        (self.transactionalID, self.source, self.requests) = (transactionalID, source, requests)
        super.init(producer, route)
        try requests.requireCounting()
    }

    private static let defaults = [
        ("transaction.timeout.ms", String(defaultTimeoutMilliseconds)),
        // A call that waits for a broker checks its time only when a connection has failed, so that must come soon.
        ("reconnect.backoff.max.ms", "1000"),
    ]

    private var handle: ClientHandle { client.handle }

    package override var fatalFault: KafkaFault? { abandonment ?? super.fatalFault }

    /// Counted since the producer was made, so that a late answer to an earlier request cannot hide a copy.
    package var unanswered: UnansweredRequests {
        var unanswered = UnansweredRequests()
        unanswered.inits = requests.unanswered(.initProducerID)
        unanswered.additions =
            requests.unanswered(.addPartitionsToTransaction) + requests.unanswered(.addOffsetsToTransaction)
            + requests.unanswered(.transactionalOffsetCommit)
        unanswered.ends = requests.unanswered(.endTransaction)
        return unanswered
    }

    // MARK: - Calls

    /// Takes over the transactional id: aborts what a predecessor left open and fences it. Once, before any other call.
    ///
    /// - Throws: a ``KafkaFault``; while it is retriable the call goes on where it stopped.
    package func initTransactions(limit milliseconds: Int) throws(KafkaFault) {
        let timeout = clampedTimeout(milliseconds)
        // The library waits on this thread, and no longer than `timeout`.
        let error = unsafe rd_kafka_init_transactions(handle.pointer, timeout)
        try unsafe check(error, "taking over transactional id \(transactionalID)")
    }

    /// The library may hang when a transaction is begun after a fatal error (#4420).
    package func begin() throws(KafkaFault) {
        let error = unsafe rd_kafka_begin_transaction(handle.pointer)
        handle.lastCall = Self.awaitAdditions
        try unsafe check(error, "beginning a transaction")
        handle.serve()
    }

    package override func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        let hasEnded = client.flushQueue(limit: milliseconds)
        if let fatal = fatalFault { throw fatal }
        return hasEnded
    }

    /// May exceed the budget by two seconds. The library would wait for as long as the coordinator is absent; if it does, the
    /// fault is fatal, and the call is abandoned.
    package func sendOffsets(
        _ offsets: [PartitionOffset],
        _ token: any MemberToken,
        _ budget: CallBudget
    ) throws(KafkaFault) {
        guard let metadata = token as? GroupMetadata else { throw .invalid("the membership is not librdkafka's") }
        let (handle, topic, clock) = (handle, source, route.clock)
        let now = clock()
        let left = budget.left(at: now)
        let (action, timeout) = ("sending offsets of \(topic)", clampedTimeout(Int(left)))
        let goesOn = { () -> Bool in
            // A call that nobody cuts short has two seconds more, in which the library ends it by itself.
            let time = clock()
            return budget.left(at: time) > 0 || time - now >= left
        }
        let error: OpaquePointer?
        do throws(KafkaFault) {
            let bound = Int(timeout) + Self.graceMilliseconds
            unsafe error = try BoundedCall.run(action, timeoutMilliseconds: bound, goesOn: goesOn) {
                let list = TopicPartitionList(topic: topic, offsets: offsets)
                // The library copies the list and the metadata. The client lives until the call has returned.
                return unsafe list.withPointer { list in
                    unsafe metadata.withPointer {
                        unsafe rd_kafka_send_offsets_to_transaction(handle.pointer, list, $0, timeout)
                    }
                }
            }
        } catch {
            // It may never return: the producer is given up, and never touched again.
            abandonment = error
            throw error
        }
        try unsafe check(error, action)
    }

    /// The library looks for expired requests once a second.
    private static let graceMilliseconds = 2_000

    package func commit(limit milliseconds: Int) throws(KafkaFault) {
        // Delivery callbacks run inside this call, on this thread.
        let error = unsafe rd_kafka_commit_transaction(handle.pointer, clampedTimeout(milliseconds))
        try unsafe check(error, "committing a transaction")
        handle.lastCall = nil
    }

    package func abort(limit milliseconds: Int) throws(KafkaFault) {
        // Delivery callbacks run inside this call, on this thread.
        let error = unsafe rd_kafka_abort_transaction(handle.pointer, clampedTimeout(milliseconds))
        try unsafe check(error, "aborting a transaction")
        handle.lastCall = nil
    }

    /// Lets the library count what it has sent before a client ends with an open transaction. It (to 2.15.0) counts a
    /// request that adds a partition only once it has handed it to the connection's thread: a client that ends in between
    /// fails the assertion that ``TransactionGuard`` names. That request follows the partition's first record at once.
    private static func awaitAdditions() { usleep(additionMicroseconds) }

    private static let additionMicroseconds: UInt32 = 200_000

    // MARK: - Faults

    /// The library takes -1 as "for as long as the transaction may last"; zero would not even start.
    private func clampedTimeout(_ milliseconds: Int) -> Int32 { max(1, clampedMilliseconds(milliseconds)) }

    private func check(_ error: OpaquePointer?, _ action: String) throws(KafkaFault) {
        guard let error = unsafe error else { return }
        // So that the last connection error is known.
        handle.serve()
        let raw = unsafe KafkaFault(takingOwnershipOf: error, doing: action, isOfTransaction: true)
        let fault = handle.running(handle.explained(raw))
        if let fatal = fatalFault { throw fatal }
        throw fault.requiresAbort ? named(fault) : fault
    }

    /// The fault does not name a refused topic, only the log does.
    override func named(_ fault: KafkaFault) -> KafkaFault {
        guard let topic = handle.context.refusedTopic else { return fault }
        // The library drops all records of a transaction whose partitions were refused: a flush sees that first.
        if fault.isPurge {
            return KafkaFault(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, fault.message).refusing(topic: topic)
        }
        return fault.refusedResource == .topic ? fault.refusing(topic: topic) : fault
    }
}
