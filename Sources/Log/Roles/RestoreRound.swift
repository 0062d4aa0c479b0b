/// The outcome of one call of ``LedgerSource/restore(_:waitMilliseconds:)``.
package struct RestoreRound: Sendable {
    /// In offset order within each partition. The caller ignores those of a partition that has started: they may be its
    /// own commits, read back after later ones.
    package var records = StoredRecords()
    /// Offsets left to read, of all partitions together: what a progress line shows.
    package var remaining: Int64 = 0
    /// Partitions given completely, up to their ends at the start, with this round; each is named once.
    package var completed: [Int32] = []
    /// Partitions whose ledger cannot be read: no more of it comes, and the records given so far do not count.
    package var damaged: [PartitionDamage] = []
    /// All partitions were given completely.
    package var isComplete = false
    /// Kept partitions that know more than the ledger topic has, which lost committed records. The caller drops its
    /// state of them: they are read from the beginning, from the next round on.
    package var dropped: Set<Int32> = []
    /// The group revoked the partitions meanwhile: the restore is over.
    package var change: AssignmentChange?

    package init() {}
}
