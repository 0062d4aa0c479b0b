internal import Log

extension BatchLoop {
    func isHeld(_ polled: PolledRecord) -> Bool {
        guard let stamp = polled.stamp else { return false }
        return held[stamp.place.partition] != nil
    }

    /// No request is judged by an incomplete ledger, and nothing of it is kept: it is read from its beginning when the
    /// partition is assigned again.
    func quarantine(_ partition: Int32, _ sentence: String) throws {
        forget(partition)
        try hold(partition, sentence)
    }

    /// Holds a partition whose ledger has records that this version cannot read.
    ///
    /// - Returns: whether it has such records.
    func quarantineUnreadable(_ unreadable: UnreadableRecords, of partition: Int32) throws -> Bool {
        guard let fault = unreadable.first(of: partition) else { return false }
        try quarantine(
            partition,
            "\(fault); run the version that wrote it, or forget it with attest-worker reset --config DIR --partitions \(partition)"
        )
        return true
    }
}
