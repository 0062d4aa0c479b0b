internal import Kafka
internal import KafkaPorts
internal import Log

/// What the log on Kafka asks of its unit besides what the loop does. One implementation per delivery guarantee; the log
/// that polls is the same for all.
protocol BrokerUnit: RecordUnit {
    /// The log that has the unit; nil once it is closed. Not retained.
    var owner: (any UnitOwner)? { get set }
    /// The offset after the last ledger record that the last committed unit has made durable, by partition.
    var ledgerEnds: [Int32: Int64] { get }
    /// The known end of each ledger partition: if a record of ours lands before it, the topic was cut.
    var knownLedgerEnds: [Int32: Int64] { get set }
    /// Ledger partitions found to be cut since the last ``begin()``.
    var cutLedgers: Set<Int32> { get }
    /// The topics' known partition counts; unknown ones are asked for with the first record.
    var partitionCounts: [String: Int32] { get set }
    /// Whether a unit is being written away from the loop's thread. Nothing else of it may be called then but
    /// ``close()``, which waits for its end.
    var isWriting: Bool { get }
    /// Makes sure that nothing of a predecessor is pending: before asking for committed offsets, and before a unit.
    ///
    /// - Throws: a retriable ``KafkaFault`` where more time is needed: the next call goes on where this one stopped.
    func prepare(timeoutMilliseconds: Int) throws
    /// Makes the unit durable together with the positions. Throws where that is not certain.
    ///
    /// - Parameter member: this worker's membership in the group when the positions' records were polled.
    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws
    /// Ends the unit without committing it. Does not wait for what the next unit needs.
    func drop() throws -> UnitEnd
    func close()
}

/// The log behind a unit: the unit's outputs and the group's positions belong together.
protocol UnitOwner: AnyObject {
    /// Keeps the group's membership alive: called at least twice a second by every wait for the broker, on the loop's
    /// thread. Events that come meanwhile are kept for the next poll.
    func keepServing()
    /// Where a unit commits. - Throws: a ``KafkaFault`` if the positions do not belong to the present assignment.
    func checkCommit(_ positions: [PartitionPosition], of generation: Generation) throws -> CommitPlace
    func noteCommitted(_ positions: [PartitionPosition])
    func noteFailedCommit()
    /// Goes back to the committed positions.
    func rewind(after end: UnitEnd)
}

/// The consumer of a batch, and its membership when the batch was polled.
struct CommitPlace {
    let consumer: Consumer
    let member: GroupMetadata
}

/// The state of a unit after an abort.
enum UnitEnd {
    /// Nothing of the unit is durable.
    case dropped
    /// It may have been committed all the same: only the broker knows.
    case unknown
}

extension BrokerUnit {
    func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        guard let owner else { throw KafkaFault.fatal("the log is closed") }
        let place = try owner.checkCommit(positions, of: generation)
        do { try commit(positions, of: place.consumer, as: place.member) } catch {
            owner.noteFailedCommit()
            throw error
        }
        owner.noteCommitted(positions)
    }

    func abort() throws {
        let end = try drop()
        // A source that is not taken back would skip the records that were dropped.
        guard let owner else { throw KafkaFault.fatal("the log is closed") }
        owner.rewind(after: end)
    }

    /// While a unit is written on another thread, the loop itself serves the group.
    func serveGroup() { if !isWriting { owner?.keepServing() } }

    /// Those of `first` (the lowest offsets of our records) that lie before the ledger's known ends.
    func cut(_ first: [Int32: Int64]) -> Set<Int32> {
        Set(first.filter { $0.value < knownLedgerEnds[$0.key] ?? 0 }.keys)
    }

    /// - Throws: a ``KafkaFault`` that asks for an abort if a ledger partition was truncated: verdicts based on the
    ///   lost records must not be committed.
    func requireWhole(_ cut: Set<Int32>) throws(KafkaFault) {
        guard let partition = cut.min() else { return }
        throw .stale(
            "the ledger topic's partition \(partition) ends before the offset already read: truncated or recreated"
        )
    }
}
