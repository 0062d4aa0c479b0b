internal import KafkaPorts
internal import Log

/// A unit that is being written.
struct Unit {
    /// Those of the present call that are not queued yet.
    var rest: ArraySlice<OutboundRecord>
    /// At least once, the parts of the ledger's records that are not begun.
    var ledger: ArraySlice<[OutboundRecord]> = []
    /// Ledger partitions that were found to be cut.
    var cutLedgers: Set<Int32> = []
    private let count: Int
    private let begunAt: Moment
    private let budget: Int64

    init(_ batch: OutputBatch, at now: Moment) {
        rest = batch.records[...]
        count = batch.records.count
        (begunAt, budget) = (now, batch.budget.left(at: now))
    }

    /// The share of its time that has passed; above 1 when it is exceeded.
    func timeShare(at now: Moment) -> Double { Double(now - begunAt) / Double(max(budget, 1)) }

    /// Adds to a time-out the share of the unit that was acknowledged in time.
    func progress(addedTo fault: KafkaFault, _ deliveries: DeliverySummary) -> KafkaFault {
        guard fault.isTimeout || fault.isExpiry, count > 0 else { return fault }
        return fault.afterAcknowledging(min(1, Double(deliveries.acknowledged) / Double(count)))
    }
}
