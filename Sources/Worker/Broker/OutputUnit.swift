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
    /// Makes sure that nothing of a predecessor is pending: before committed offsets are asked for, and before a unit.
    func prepare() throws
    func begin() throws
    func append(_ records: [OutboundRecord]) throws
    /// Makes the unit durable together with the positions. Throws where it is not certain that it is.
    ///
    /// - Parameter member: who this worker was in the group when the positions' records were polled.
    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws
    /// Ends the unit without committing it and leaves everything ready for the next one.
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
