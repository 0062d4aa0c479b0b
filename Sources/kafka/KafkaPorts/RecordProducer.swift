package import Streams

/// The fate of the records of one output, since ``RecordProducer/forgetDeliveries()``.
package struct DeliverySummary: Sendable, Equatable {
    /// Records whose offset is known.
    package var acknowledged = 0
    /// Acknowledged, and perhaps lost: a later batch of the partition was taken and theirs was refused.
    package var withoutOffset = 0
    package var failed = 0
    /// Failed records that the library gave up by itself: they may still be sent.
    package var unsent = 0
    package var firstFault: KafkaFault?
    /// The lowest acknowledged offset of each partition of the ledger topic.
    package var firstLedgerOffsets: [Int32: Int64] = [:]
    /// The highest one, likewise.
    package var lastLedgerOffsets: [Int32: Int64] = [:]
    /// When a broker appended the latest of the ledger's records; nil where the topic keeps the producers' times.
    package var ledgerTime: Int64?

    package init() {}
}

/// An idempotent producer. On the writer's queue; a call blocks for at most its limit.
package protocol RecordProducer: AnyObject {
    /// The partition counts of the topics: their first records then need no lookup.
    func know(_ counts: [String: Int32])
    /// Opens connections to the leaders of all known topics, ahead of the first records, which would wait for them.
    func connect(limit milliseconds: Int)
    /// Queues records in their order.
    ///
    /// - Returns: how many were queued: fewer than there are where the queue is full.
    func produce(_ records: ArraySlice<OutboundRecord>) throws(KafkaFault) -> Int
    /// Waits for the records in flight. - Returns: false where some still are.
    func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool
    /// Takes delivery reports, waiting at most this long for the first one.
    func serve(limit milliseconds: Int)
    var deliveries: DeliverySummary { get }
    func forgetDeliveries()
    /// Records queued or in flight.
    var outstanding: Int { get }
    /// The fault after which only a new producer helps.
    var fatalFault: KafkaFault? { get }
    /// Whether files that the client has read, such as certificates, were renewed since.
    var isOutdated: Bool { get }
    /// A fault of time with the cause that this client knows of.
    func explained(_ fault: KafkaFault) -> KafkaFault
    /// Drops what is queued or in flight; the client ends in the background, and nobody waits for that.
    func discard()
}

extension RecordProducer {
    package func explained(_ fault: KafkaFault) -> KafkaFault { fault }
    package var isOutdated: Bool { false }
}

/// Requests that were written to a socket and have no answer, by what their late copies could do.
package struct UnansweredRequests: Sendable, Equatable {
    /// InitProducerId: fences the id's owner at the time of its arrival.
    package var inits = 0
    /// AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit: add to a later transaction of the same epoch.
    package var additions = 0
    /// EndTxn: ends a later transaction of the same epoch.
    package var ends = 0

    package init() {}
}

/// A transactional producer: the library's calls as they are, traps included. Their rules are the caller's, see
/// ``TransactionGuard``.
package protocol TransactionProducer: RecordProducer {
    /// Takes over the transactional id; a retriable fault means that the call goes on with the next one.
    func initTransactions(limit milliseconds: Int) throws(KafkaFault)
    func begin() throws(KafkaFault)
    /// Puts the next offsets to read into the transaction.
    ///
    /// It may wait for as long as the coordinator is absent: once the budget is over or cut short the call is given up,
    /// the fault is fatal, and the producer is to be discarded.
    func sendOffsets(
        _ offsets: [PartitionOffset],
        _ token: any MemberToken,
        _ budget: CallBudget
    ) throws(KafkaFault)
    func commit(limit milliseconds: Int) throws(KafkaFault)
    func abort(limit milliseconds: Int) throws(KafkaFault)
    var unanswered: UnansweredRequests { get }
}
