/// The pipeline's only boundary: Kafka, a capture file and a seeded simulation implement it.
///
/// Called from one thread only (the loop's). Calls may block, but never longer than `milliseconds`.
package protocol RecordLog: AnyObject {
    /// Up to `limits` records of one round; waits at most `milliseconds` for the first one.
    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound
    /// Keeps the log's membership in its group alive while nothing is polled: called at least twice a second then.
    /// Events that come meanwhile are kept for the next poll.
    ///
    /// - Returns: a change of assignment, which a poll would have given.
    func serve() throws -> AssignmentChange?
    /// Opens the unit of the next appends and one commit.
    func begin() throws
    /// Takes outputs and ledger records in the order in which they are to be written.
    func append(_ records: [OutboundRecord]) throws
    /// Packs records into bytes, for a log that is a file: lanes call it, and ``append(packed:)`` follows. nil = the
    /// log takes records.
    var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? { get }
    func append(packed outputs: [PackedOutput]) throws
    /// Makes everything appended since ``begin()`` durable together with the input positions.
    ///
    /// - Parameter generation: the one under which the positions' records were polled.
    func commit(_ positions: [PartitionPosition], of generation: Generation) throws
    /// Drops everything appended since ``begin()`` as far as the log can, and rewinds to the committed positions. If it
    /// is unknown what was committed, ``AssignmentChange/assigned(_:)`` follows again.
    func abort() throws
    /// Starts reading the ledger of newly assigned partitions, up to their ends at this moment.
    ///
    /// - Parameter kept: partitions whose ledger the caller still has as of its last commit (or restore) here: only
    ///   records written after that are read.
    func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws
    /// Reads on, at most `records` of them; waits at most `waitMilliseconds` for the first one. Partitions that have
    /// started are polled meanwhile.
    func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound
    /// Decides where reading of a partition starts; asked once for each, when its ledger is restored.
    ///
    /// - Parameters:
    ///   - mark: the ledger's last record 04; nil = there is none.
    ///   - ledgerIsEmpty: whether the ledger has no other record.
    /// - Throws: a fault of the world; after a passing one it is asked again.
    func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart
    /// Keeps a partition of ours without handing out its records, until it is revoked or assigned again.
    func hold(_ partition: Int32) throws
    /// The group whose positions are committed, as written in marks; nil = there is none, and no mark names one.
    var group: [UInt8]? { get }
    /// Answers a ``AssignmentChange/revoked(_:)`` or ``AssignmentChange/lost(_:)``: gives the partitions back.
    func releaseRevoked() throws
    /// Leaves the group: after this nothing is polled or appended.
    func close() throws
    /// Whether there is a ledger topic, to which ledger records are appended.
    var hasLedger: Bool { get }
    /// Whether outputs, ledger and positions become durable together. If not, the ledger records how far it was
    /// applied, and requests before that are not applied again.
    var isAtomic: Bool { get }
    /// The share of its time that the last committed unit took: 1 is all that a unit may take.
    var unitTimeShare: Double { get }
}

extension RecordLog {
    package func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
        .started(PartitionStart.Report())
    }

    package func hold(_ partition: Int32) throws {}
    package func serve() throws -> AssignmentChange? { nil }
    package var group: [UInt8]? { nil }
    /// A file has no time limit.
    package var unitTimeShare: Double { 0 }
    package var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? { nil }
    package func append(packed outputs: [PackedOutput]) throws {
        precondition(outputs.isEmpty, "the log takes records")
    }
}
