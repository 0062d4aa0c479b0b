/// A source's part in a group, which assigns partitions and takes them away. It says what happens to them, and knows it.
///
/// Called as ``RequestSource`` is. Answers carry the number of the announcement that they answer: where another one
/// follows, or the partitions are gone, they change nothing, and the loop hears of that next.
package protocol GroupMember: AnyObject {
    /// The group whose positions are committed, as written in marks; nil = no mark names one.
    var group: [UInt8]? { get }
    /// The id of its transactions, as written in marks; nil = it has none.
    var transactionalID: [UInt8]? { get }
    /// The identity of a partition's ledger, as repeated in marks; nil = none is written.
    func ledgerIdentity(of partition: Int32) -> [UInt8]?
    /// The place of a partition's newest mark, as of the last commit (or restore) here, and its identity; nil = not known.
    func ledgerMark(of partition: Int32) -> (offset: Int64, identity: [UInt8])?
    /// How many partitions the requests have, as written in marks; nil = not known.
    var partitionCount: Int32? { get }
    /// Whether an answer is awaited that wakes the loop's driver: polls do not wait then.
    var isAwaiting: Bool { get }

    /// Keeps the membership alive while nothing is polled: called at least twice a second then. Records that come
    /// meanwhile are kept for the next poll.
    ///
    /// - Returns: a change of assignment, which a poll would have given.
    func serve() throws -> [PartitionEvent]
    /// Reads on in the ledgers, at most `records`; waits at most `waitMilliseconds` for the first one. Partitions that
    /// have started are polled meanwhile.
    func readLedgers(_ records: Int, waitMilliseconds: Int) throws -> [PartitionEvent]

    /// The loop is ready for the ledgers of the partitions that were announced, up to their ends at this moment.
    ///
    /// - Parameter kept: partitions whose ledger the caller still has as of its last commit (or restore) here: only
    ///   records written after that are read.
    func restore(kept: Set<Int32>, of announcement: Generation) throws
    /// Offsets that are left to read of the ledgers of others, as far as it is known; nil = none are followed.
    var standbyLag: Int64? { get }
    /// Reads on in the ledgers of partitions of others, at most `records`.
    ///
    /// - Parameters:
    ///   - mayWait: some milliseconds, where more is known to be there.
    ///   - kept: those that the caller keeps whole.
    ///   - reading: those that it has as far as they came.
    func readStandby(_ records: Int, mayWait: Bool, kept: Set<Int32>, reading: Set<Int32>) -> [StandbyEvent]
    /// Decides where reading of a partition starts; asked once for each, when its ledger is restored.
    ///
    /// - Parameters:
    ///   - mark: the ledger's last one; nil = there is none.
    ///   - isEmpty: whether the ledger has no other record.
    /// - Returns: that it has started, or is held; nil = the announcement is over.
    /// - Throws: a fault of the world; after a passing one it is asked again.
    func ledgerIsWhole(
        _ partition: Int32,
        mark: PositionMark?,
        isEmpty: Bool,
        of announcement: Generation
    ) throws -> PartitionEvent?
    /// Nothing can be judged by what was read of a ledger.
    ///
    /// - Returns: that the partition is held; nil = the announcement is over.
    func ledgerIsUnusable(_ partition: Int32, _ sentence: String, of announcement: Generation) throws -> PartitionEvent?
    /// Answers ``PartitionEvent/revoked(_:)`` or ``PartitionEvent/lost(_:)``: gives the partitions back.
    func release() throws

    /// The partitions that are ours and that the loop has taken; nil = the group has not assigned any yet, not even none.
    var assigned: [Int32]? { get }
    /// Partitions of ours that are not read, each with a sentence that says why and what helps.
    var holds: [Int32: String] { get }
    /// Whether the first offset of a partition is yet to be committed.
    func isFirstOffsetDue(_ partition: Int32) -> Bool
}

extension GroupMember {
    package var partitionCount: Int32? { nil }
    package var isAwaiting: Bool { false }
    package var transactionalID: [UInt8]? { nil }
    package var standbyLag: Int64? { nil }
    package func readStandby(
        _ records: Int,
        mayWait: Bool,
        kept: Set<Int32>,
        reading: Set<Int32>
    ) -> [StandbyEvent] { [] }
    package func ledgerIdentity(of partition: Int32) -> [UInt8]? { nil }
    package func ledgerMark(of partition: Int32) -> (offset: Int64, identity: [UInt8])? { nil }
}
