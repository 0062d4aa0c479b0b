/// Writes a batch's outputs, which become durable together with the batch's input positions.
///
/// Called as ``RequestSource`` is; no call waits. It takes outputs as a ``RecordTransaction`` or a
/// ``PackedTransaction``. One transaction after the other: a `write` begins one, takes its outputs in the order in
/// which they are to be written, and commits it under the generation in which its positions' records were polled. Where
/// the transaction is written elsewhere, the loop goes on meanwhile, and ``hasOutcome`` says that it has ended. A
/// `write` that throws has begun nothing, or is to be aborted.
package protocol OutputTransaction: AnyObject {
    /// Whether outputs, ledger and positions become durable together. If not, the ledger records how far it was
    /// applied, and requests before that are not applied again.
    var isAtomic: Bool { get }
    /// The share of its time that the last committed transaction took: 1 is all that a transaction may take.
    var timeShare: Double { get }
    /// When a broker appended the last of the ledger's records of the last committed transaction, in milliseconds since
    /// 1970; nil = the topic keeps the writer's times.
    var appendTime: Int64? { get }
    /// Whether the transaction that was handed over has ended. One that is written where it is handed over has.
    var hasOutcome: Bool { get }
    /// Takes the outcome.
    ///
    /// - Throws: what the transaction failed with: it is then to be aborted.
    func takeOutcome() throws
    /// Drops the transaction as far as it can; the source goes back to the committed positions. If it is unknown what
    /// was committed, ``PartitionEvent/assigned(_:of:isNew:)`` follows again.
    ///
    /// - Returns: false while the abort is under way: it is called again.
    func abort() throws -> Bool
}

extension OutputTransaction {
    package var appendTime: Int64? { nil }
    package var hasOutcome: Bool { true }
    package func takeOutcome() throws {}
}

/// A transaction that takes records: outputs and ledger records.
package protocol RecordTransaction: OutputTransaction {
    func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) throws
}

/// A transaction that takes bytes, as files do: lanes pack the records, so that the loop handles only what they made.
package protocol PackedTransaction: OutputTransaction {
    /// Packs records in their order, and takes them out of their array. Lanes call it.
    var packer: @Sendable (consuming [OutboundRecord]) -> [PackedOutput] { get }
    func write(_ outputs: [[PackedOutput]], _ positions: [PartitionPosition], of generation: Generation) throws
}
