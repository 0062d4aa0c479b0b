/// The ledger of the partition that was asked for last: records come in runs of one partition.
struct LedgerRun {
    private var partition: Int32?
    private var ledger: PartitionLedger?

    mutating func ledger(_ partition: Int32, _ find: (Int32) -> PartitionLedger?) -> PartitionLedger? {
        if self.partition != partition { (self.partition, ledger) = (partition, find(partition)) }
        return ledger
    }
}
