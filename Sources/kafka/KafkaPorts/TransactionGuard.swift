/// The history of a producer's open transaction, and what follows from it. The library enforces none of this.
///
/// Only the growth of ``DeliverySummary`` since ``begin(_:)`` counts.
package struct TransactionGuard: Sendable, Equatable {
    /// The offsets of one call; a retry must pass the same ones.
    package struct Offsets: Sendable, Equatable {
        package var topic: String
        package var offsets: [PartitionOffset]

        package init(topic: String, offsets: [PartitionOffset]) { (self.topic, self.offsets) = (topic, offsets) }
    }

    /// Whether the library has requests left that add to the transaction, on their way or to be sent or repeated:
    /// partitions are registered before their first record is sent, and offsets within their call.
    package enum Settlement: Sendable, CaseIterable {
        /// An abort is safe.
        case settled
        /// Waiting may settle it.
        case underWay
        /// Waiting does not show when an abort is safe: the producer is to be discarded.
        case never
    }

    /// Why the transaction must not be committed, as soon as that is known.
    private var spoilage: KafkaFault?
    /// Offsets that could not be sent, but may be tried again.
    private var unsentOffsets: [Offsets] = []
    private var before = DeliverySummary()
    /// A call for offsets ended without a final answer.
    private var hasOpenOffsets = false

    package init() {}

    /// Forgets the previous transaction, for a new one or none.
    package mutating func begin(_ deliveries: DeliverySummary) {
        self = TransactionGuard()
        before = deliveries
        assert(spoilage == nil && unsentOffsets.isEmpty, "nothing of an earlier transaction counts")
    }

    /// Marks the transaction as one that cannot be committed, and returns the fault that says so. Any fault of a produce
    /// spoils it, but for a full queue; the library itself would commit what it has.
    package mutating func spoil(_ fault: KafkaFault) -> KafkaFault {
        let spoiling = fault.with(isFatal: fault.isFatal, requiresAbort: true)
        spoilage = spoilage ?? spoiling
        return spoiling
    }

    /// Notes that a call is about to put offsets into the transaction.
    package mutating func willSend(_ offsets: Offsets) {
        unsentOffsets.removeAll { $0 == offsets }
        unsentOffsets.append(offsets)
        hasOpenOffsets = true
        assert(unsentOffsets.count(where: { $0 == offsets }) == 1, "a retry is the same call")
    }

    /// Notes the end of such a call. A refusal is final; what may be tried again, the library may be trying still.
    package mutating func didSend(_ offsets: Offsets, _ fault: KafkaFault?) {
        assert(hasOpenOffsets && unsentOffsets.contains(offsets), "a call ends that has begun")
        hasOpenOffsets = fault?.isRetriable ?? false
        if fault == nil { unsentOffsets.removeAll { $0 == offsets } }
    }

    /// The fault of a record that was not delivered, or was acknowledged without an offset: a later batch of its partition
    /// was taken and its own may have been refused.
    package func lostRecord(_ deliveries: DeliverySummary) -> KafkaFault? {
        guard deliveries.failed > before.failed || deliveries.withoutOffset > before.withoutOffset else { return nil }
        let fault = deliveries.firstFault ?? .stale("a record was not delivered")
        return fault.with(isFatal: fault.isFatal, requiresAbort: true)
    }

    /// Why the transaction must not be committed, whatever the library says.
    ///
    /// - Parameter fatal: the fault after which only a new producer helps, if there is one.
    package func commitObstacle(_ deliveries: DeliverySummary, fatal: KafkaFault?) -> KafkaFault? {
        if let fatal { return fatal }
        if let spoilage { return spoilage }
        if let lost = lostRecord(deliveries) { return lost.with(isFatal: false, requiresAbort: true) }
        return unsentOffsets.first.map { .stale("the offsets of \($0.topic) are not in the transaction") }
    }

    /// Whether an abort is safe. One that overtakes the transaction's records and requests is fatal to the producer: the
    /// broker does not know yet that a transaction has begun. If a request that adds to the transaction ends after the
    /// abort, even because the client is closed, the library (to 2.15.0) fails an assertion and kills the process
    /// (`rk->rk_eos.txn_req_cnt > 0`).
    package func settlement(
        _ deliveries: DeliverySummary,
        outstanding: Int,
        _ unanswered: UnansweredRequests
    ) -> Settlement {
        if outstanding > 0 || unanswered.additions > 0 { return .underWay }
        return hasOpenOffsets || deliveries.unsent != before.unsent ? .never : .settled
    }
}

extension UnansweredRequests {
    /// Whether a copy of a transaction request may still be on its way to a broker, although commit or abort succeeded.
    /// It could end a later transaction of this producer, or move its offsets: discard the producer before the next
    /// begin. For the next producer such a copy has an older epoch, which the broker refuses.
    ///
    /// Counted since the producer was made, so that a late answer to an earlier request cannot hide a copy.
    package var mayHaveRepeats: Bool { additions > 0 || ends > 0 }
}
