internal import Kafka
internal import Log

/// Where the outputs of one batch go, and how they and the batch's input positions become durable together.
///
/// One implementation per delivery guarantee; the log that polls is the same for all.
protocol OutputUnit: AnyObject {
    /// Whether everything of a unit becomes durable together.
    var isAtomic: Bool { get }
    /// The offset after the last ledger record that the last committed unit has made durable, by partition.
    var ledgerEnds: [Int32: Int64] { get }
    /// The known end of each ledger partition: if a record of ours lands before it, the topic was cut.
    var knownLedgerEnds: [Int32: Int64] { get set }
    /// Ledger partitions found to be cut since the last ``begin()``.
    var cutLedgers: Set<Int32> { get }
    /// The share of its time that the last committed unit took.
    var timeShare: Double { get }
    /// Keeps the group's membership alive: called at least twice a second by every wait for the broker, on the loop's
    /// thread. Events that come meanwhile are kept for the next poll.
    var serveGroup: () -> Void { get set }
    /// The topics' known partition counts; unknown ones are asked for with the first record.
    var partitionCounts: [String: Int32] { get set }
    /// Makes sure that nothing of a predecessor is pending: before asking for committed offsets, and before a unit.
    ///
    /// - Throws: a retriable ``KafkaFault`` where more time is needed: the next call goes on where this one stopped.
    func prepare(timeoutMilliseconds: Int) throws
    /// Opens a unit. Its time begins: see ``BrokerSettings/unitMilliseconds()``.
    func begin() throws
    func append(_ records: [OutboundRecord]) throws
    /// Makes the unit durable together with the positions. Throws where that is not certain.
    ///
    /// - Parameter member: this worker's membership in the group when the positions' records were polled.
    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws
    /// Ends the unit without committing it. Does not wait for what the next unit needs.
    func abort() throws -> UnitEnd
    func close()
}

/// The state of a unit after an abort.
enum UnitEnd {
    /// Nothing of the unit is durable.
    case dropped
    /// It may have been committed all the same: only the broker knows.
    case unknown
}

extension OutputUnit {
    /// Those of `first` (the lowest offsets of our records) that lie before the ledger's known ends.
    func cut(_ first: [Int32: Int64]) -> Set<Int32> {
        Set(first.filter { $0.value < knownLedgerEnds[$0.key] ?? 0 }.keys)
    }

    /// - Throws: a ``KafkaFault`` that asks for an abort where a partition was cut: its facts are gone, so verdicts
    ///   that rest on them must not be committed before an operator has looked.
    func requireWhole(_ cut: Set<Int32>) throws(KafkaFault) {
        guard let partition = cut.min() else { return }
        throw .stale(
            "the ledger topic's partition \(partition) ends before the offset already read: truncated or recreated"
        )
    }
}

/// The time of one unit, and how many of its records were acknowledged in it.
struct UnitProgress {
    var patience: Patience
    /// Records that were to be sent.
    private(set) var appended = 0
    private let acknowledgedBefore: Int

    init(_ patience: Patience, _ deliveries: DeliveryCounts) {
        self.patience = patience
        acknowledgedBefore = deliveries.acknowledged
    }

    mutating func append(_ count: Int) { appended += count }

    /// Adds to a time-out the share of the unit that was acknowledged in time.
    func told(_ fault: KafkaFault, _ deliveries: DeliveryCounts) -> KafkaFault {
        guard fault.isTimeout || fault.isExpiry, appended > 0 else { return fault }
        let acknowledged = max(0, deliveries.acknowledged - acknowledgedBefore)
        return fault.afterAcknowledging(min(1, Double(acknowledged) / Double(appended)))
    }
}
