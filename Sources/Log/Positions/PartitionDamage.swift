/// A partition with records that can no longer be read as they were written.
package struct PartitionDamage: Sendable, Equatable {
    package let partition: Int32
    /// The place that was read, and the log's message.
    package let cause: String
    /// Whether the damage is in the ledger; else it is in the requests.
    package let isLedger: Bool

    package init(partition: Int32, cause: String, isLedger: Bool) {
        (self.partition, self.cause, self.isLedger) = (partition, cause, isLedger)
    }

    /// The sentence for the operator: what happened and what helps.
    package var sentence: String {
        let way =
            isLedger
            ? "export the other partitions with attest-worker export-keys --config DIR --partitions, recreate the ledger topic, and fill it "
                + "with attest-worker import-keys --config DIR"
            : "skip them with attest-worker reset --config DIR --offsets-only --partitions \(partition) --to-offset N"
        return "\(cause): bytes on the broker's disk are damaged; restore the replica from another one, or \(way)"
    }
}
