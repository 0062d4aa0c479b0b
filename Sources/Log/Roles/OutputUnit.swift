/// Where a batch's outputs go, and how they and the batch's input positions become durable together.
///
/// Called as ``RequestSource`` is. It takes outputs as a ``RecordUnit``, a ``PackedUnit`` or a ``DetachedUnit``.
package protocol OutputUnit: AnyObject {
    /// Whether outputs, ledger and positions become durable together. If not, the ledger records how far it was
    /// applied, and requests before that are not applied again.
    var isAtomic: Bool { get }
    /// The share of its time that the last committed unit took: 1 is all that a unit may take.
    var timeShare: Double { get }
}

/// A unit that is written on the loop's thread.
package protocol SynchronousUnit: OutputUnit {
    /// Opens the unit of the next appends and one commit.
    func begin() throws
    /// Makes everything appended since ``begin()`` durable together with the input positions.
    ///
    /// - Parameter generation: the one under which the positions' records were polled.
    func commit(_ positions: [PartitionPosition], of generation: Generation) throws
    /// Drops everything appended since ``begin()`` as far as it can; the source goes back to the committed positions.
    /// If it is unknown what was committed, ``AssignmentChange/assigned(_:)`` follows again.
    func abort() throws
}

/// A unit that takes records.
package protocol RecordUnit: SynchronousUnit {
    /// Takes outputs and ledger records in the order in which they are to be written.
    func append(_ records: [OutboundRecord]) throws
}

/// A unit that takes bytes, as files do: lanes pack the records, so that the loop handles only what they made.
package protocol PackedUnit: SynchronousUnit {
    /// Packs records in their order; lanes call it.
    var packer: @Sendable ([OutboundRecord]) -> [PackedOutput] { get }
    func append(_ outputs: [PackedOutput]) throws
}

/// A unit of records that can be written away from the loop's thread: the loop goes on polling and verifying meanwhile.
///
/// One after the other: between ``start(_:_:of:done:)`` and ``finish()`` the loop calls nothing else of the unit.
package protocol DetachedUnit: OutputUnit {
    /// Whether the loop is to use it so.
    var isDetached: Bool { get }
    /// Begins a unit, takes the records in their order and commits them, as `begin`, `append` and `commit` do. Returns
    /// at once.
    ///
    /// - Parameter done: called once, after this call has returned, on any thread: ``finish()`` then has the outcome.
    /// - Throws: a fault before anything was begun; `done` is not called then.
    func start(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation,
        done: @escaping @Sendable () -> Void
    ) throws
    /// Takes the outcome, on the loop's thread.
    ///
    /// - Throws: what the commit threw: the unit is then to be aborted.
    func finish() throws
    /// A step of what ``SynchronousUnit/abort()`` does.
    ///
    /// - Returns: false while the abort is under way: it is called again.
    func stepAbort() throws -> Bool
}

extension DetachedUnit where Self: SynchronousUnit {
    package func stepAbort() throws -> Bool {
        try abort()
        return true
    }
}
