internal import Kafka
internal import Pipeline

/// Where the outputs of one batch go, and how they and the batch's input positions become durable together.
///
/// One implementation per delivery guarantee; the log that polls is the same for all.
protocol OutputUnit: AnyObject {
    /// Whether everything of a unit becomes durable together.
    var isAtomic: Bool { get }
    /// The offset after the last ledger record that the last committed unit has made durable, by partition.
    var ledgerEnds: [Int32: Int64] { get }
    /// How far the ledger is known to go, by partition: a record of ours that lands before that shows that it was cut.
    var knownLedgerEnds: [Int32: Int64] { get set }
    /// Partitions of the ledger that were found to be cut since the last ``begin()``.
    var cutLedgers: Set<Int32> { get }
    /// The share of its time that the last committed unit took.
    var timeShare: Double { get }
    /// Keeps the group's membership alive: called at least twice a second by whatever waits for the broker, on the loop's
    /// thread. What comes meanwhile is kept for the next poll.
    var serveGroup: () -> Void { get set }
    /// Partitions of the topics, as far as they are known: what is not is asked for with the first record.
    var partitionCounts: [String: Int32] { get set }
    /// Makes sure that nothing of a predecessor is pending: before committed offsets are asked for, and before a unit.
    ///
    /// - Throws: a retriable ``KafkaFault`` where more time is needed: the next call goes on where this one stopped.
    func prepare(timeoutMilliseconds: Int) throws
    /// Opens a unit. Its time begins: see ``BrokerSettings/unitMilliseconds()``.
    func begin() throws
    func append(_ records: [OutboundRecord]) throws
    /// Makes the unit durable together with the positions. Throws where it is not certain that it is.
    ///
    /// - Parameter member: who this worker was in the group when the positions' records were polled.
    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws
    /// Ends the unit without committing it. Does not wait for what the next one needs.
    func abort() throws -> UnitEnd
    func close()
}

/// What is known after an abort.
enum UnitEnd {
    /// Nothing of the unit is durable.
    case dropped
    /// It may have been committed all the same: the broker knows.
    case unknown
}

extension OutputUnit {
    /// Those of `first` (the lowest offsets that records of ours were given) that lie before the ledger's known ends.
    func cut(_ first: [Int32: Int64]) -> Set<Int32> {
        Set(first.filter { $0.value < knownLedgerEnds[$0.key] ?? 0 }.keys)
    }

    /// - Throws: a ``KafkaFault`` asking for an abort where a partition was cut: its facts are gone, so what was judged by
    ///   them must not be committed before somebody has looked.
    func requireWhole(_ cut: Set<Int32>) throws(KafkaFault) {
        guard let partition = cut.min() else { return }
        throw .stale("the ledger topic's partition \(partition) ends before what was read of it: cut or made again")
    }
}

/// The time of one unit, and how far its records came in it.
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

    /// What the loop learns of a fault: where the time was too short, how much would have fitted.
    func told(_ fault: KafkaFault, _ deliveries: DeliveryCounts) -> KafkaFault {
        guard fault.isTimeout || fault.isExpiry, appended > 0 else { return fault }
        let acknowledged = max(0, deliveries.acknowledged - acknowledgedBefore)
        return fault.afterAcknowledging(min(1, Double(acknowledged) / Double(appended)))
    }
}
