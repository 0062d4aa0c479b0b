/// A source's part in a group, which assigns partitions and takes them away.
///
/// Called as ``RequestSource`` is.
package protocol GroupMember: AnyObject {
    /// The group whose positions are committed, as written in marks; nil = no mark names one.
    var group: [UInt8]? { get }
    /// Keeps the membership alive while nothing is polled: called at least twice a second then. Events that come
    /// meanwhile are kept for the next poll.
    ///
    /// - Returns: a change of assignment, which a poll would have given.
    func serve() throws -> AssignmentChange?
    /// Decides where reading of a partition starts; asked once for each, when its ledger is restored.
    ///
    /// - Parameters:
    ///   - mark: the ledger's last one; nil = there is none.
    ///   - ledgerIsEmpty: whether the ledger has no other record.
    /// - Throws: a fault of the world; after a passing one it is asked again.
    func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart
    /// Keeps a partition of ours without handing out its records, until it is revoked or assigned again.
    ///
    /// - Throws: a fault of the world; the records stay back all the same.
    func hold(_ partition: Int32) throws
    /// Whether an answer is awaited that wakes the loop's driver: polls do not wait then.
    var isAwaiting: Bool { get }
    /// Answers a ``AssignmentChange/revoked(_:)`` or ``AssignmentChange/lost(_:)``: gives the partitions back.
    func releaseRevoked() throws
}

extension GroupMember {
    package var isAwaiting: Bool { false }
}
