/// News of the ledgers that a standby follows: those of partitions of others.
package enum StandbyEvent: Sendable, Equatable {
    /// Nothing counts of what came of a partition's ledger: what comes next is read from its beginning.
    case emptied(Int32)
    /// Records of the ledgers, in offset order within each partition.
    case records(StoredRecords)
    /// The ledger was read to its end, and a mark proves which one it is: from here on it counts as a kept one.
    case whole(Int32)
    /// Nothing more of a ledger that is not whole comes.
    case left(Int32)
    /// A moment ago these were as the topic is.
    case current([Int32])
}
