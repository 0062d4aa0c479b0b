/// A partition with records that can no longer be read as they were written.
package struct PartitionDamage: Sendable, Equatable {
    package let partition: Int32
    /// What was read, and the log's message.
    package let cause: String
    /// Whether the damage is in the ledger; else it is in the requests.
    package let isLedger: Bool

    package init(partition: Int32, cause: String, isLedger: Bool) {
        (self.partition, self.cause, self.isLedger) = (partition, cause, isLedger)
    }

    var sentence: String {
        let way =
            isLedger
            ? "recreate the ledger topic and fill it from an export with attest-worker import-keys"
            : "skip them with attest-worker reset --offsets-only --partitions \(partition) --to-offset N"
        return "\(cause): bytes on the broker's disk are damaged; restore the replica from another one, or \(way)"
    }
}

extension BatchLoop {
    func isHeld(_ polled: PolledRecord) -> Bool {
        guard case .record(let record) = polled else { return false }
        return held[record.partition] != nil
    }

    /// No request is judged by an incomplete ledger, and nothing of it is kept: it is read from its beginning when the
    /// partition is assigned again.
    func quarantine(_ partition: Int32, _ sentence: String) throws {
        try hold(partition, sentence)
        forget(partition)
    }

    /// Holds a partition whose ledger has records that this version cannot read.
    ///
    /// - Returns: whether it has such records.
    func quarantineUnreadable(_ unreadable: UnreadableRecords, of partition: Int32) throws -> Bool {
        guard let fault = unreadable.first(of: partition) else { return false }
        try quarantine(
            partition,
            "\(fault); run the version that wrote it, or forget it with reset --partitions \(partition)"
        )
        return true
    }
}
