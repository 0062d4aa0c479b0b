/// The ledger of the partition asked for last: records come in runs of one partition.
struct LedgerRun {
    private var partition: Int32?
    /// Read in place: a copy of it touches a dozen counts.
    private(set) var ledger: PartitionLedger?

    mutating func move(to partition: Int32, _ find: (Int32) -> PartitionLedger?) {
        if self.partition != partition { (self.partition, ledger) = (partition, find(partition)) }
    }
}
