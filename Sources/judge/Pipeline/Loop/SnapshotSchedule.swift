internal import Streams

/// The order in which partitions are copied.
struct SnapshotSchedule {
    /// One is due once so much of its keys has changed: a twentieth.
    private static let share = 20
    private static let mostMilliseconds: Int64 = 12 * 3_600_000

    private struct Part {
        /// Ledger records since the last copy.
        var records = 0
        /// The time of the last copy; nil = none was made here.
        var copied: Int64?
    }

    private var parts: [Int32: Part] = [:]

    mutating func note(_ records: Int, of partition: Int32) { parts[partition, default: Part()].records += records }

    mutating func forget(_ partitions: [Int32]) { for partition in partitions { parts[partition] = nil } }

    /// The partition with the longest tail that is worth a copy.
    ///
    /// - Parameters:
    ///   - pause: the least time between two copies of a partition.
    ///   - keys: how many keys a partition has; nil = it has no whole ledger.
    func next(at now: Int64, pause: Int64, keys: (Int32) -> Int?) -> Int32? {
        let due = parts.filter { partition, part in
            guard let keys = keys(partition) else { return false }
            guard let copied = part.copied else { return true }
            let isWorth = part.records > 0 && part.records * Self.share >= keys && now - copied >= pause
            return isWorth || now - copied >= Self.mostMilliseconds
        }
        let next = due.max { one, other in
            one.value.records == other.value.records ? one.key > other.key : one.value.records < other.value.records
        }
        return next?.key
    }

    mutating func noteCopied(_ partition: Int32, at now: Int64) { parts[partition] = Part(copied: now) }
}

extension BatchLoop {
    /// Hands out a copy of a ledger after a commit: all that is applied is durable then, and its mark is the newest.
    func copyLedger(after batch: Batch) {
        guard let snapshots = options.snapshots, streams.transaction.isAtomic, let now = uptime() else { return }
        for (partition, records) in batch.ledgerRecords { schedule.note(records, of: partition) }
        guard snapshots.isReady, writing.batch == nil,
            let partition = schedule.next(at: now, pause: snapshots.pauseMilliseconds, keys: wholeKeys),
            let ledger = ledgers[partition], let mark = member?.ledgerMark(of: partition)
        else { return }
        let copy = LedgerCopy(ledger, from: mark.offset, identity: mark.identity)
        if snapshots.write(copy, of: partition) { schedule.noteCopied(partition, at: now) }
    }

    private func wholeKeys(_ partition: Int32) -> Int? {
        let isRestoring = assignment.restoration?.waiting.contains(partition) ?? false
        guard !isRestoring, member?.ledgerMark(of: partition) != nil else { return nil }
        return ledgers[partition]?.keys.count
    }
}
