package import Streams

/// One partition of an output topic as the broker holds it: records, transactions' markers, what of it is visible.
package struct PartitionLog: Sendable {
    package struct Entry: Sendable {
        /// nil = written outside of any transaction.
        package let transaction: Int?
        /// nil = a transaction's marker.
        package let record: OutboundRecord?
        /// Taken away by compaction; the offset stays.
        package var isRemoved = false
    }

    package private(set) var entries: [Entry] = []
    /// Transactions without a marker here, with their first offset.
    private var open: [Int: Int] = [:]
    private var aborted: Set<Int> = []

    package init() {}

    /// The offset after the last entry, whatever becomes of it.
    package var highWatermark: Int { entries.count }

    /// The LSO: before this offset every transaction has its marker.
    package var lastStable: Int { open.values.min() ?? entries.count }

    package mutating func append(_ record: OutboundRecord, transaction: Int?) {
        if let transaction, open[transaction] == nil { open[transaction] = entries.count }
        entries.append(Entry(transaction: transaction, record: record))
    }

    /// Writes a transaction's marker.
    package mutating func mark(_ transaction: Int, committed: Bool) {
        open[transaction] = nil
        if !committed { aborted.insert(transaction) }
        entries.append(Entry(transaction: transaction, record: nil))
    }

    /// Whether a transaction has committed what lies at an offset, or lay there before compaction.
    package func isCommitted(at offset: Int) -> Bool {
        entries.indices.contains(offset) && entries[offset].transaction.map(aborted.contains) != true
    }

    /// A read_committed reader's view of an offset below the LSO.
    package func visible(at offset: Int) -> OutboundRecord? {
        let entry = entries[offset]
        if entry.isRemoved || entry.transaction.map(aborted.contains) == true { return nil }
        return entry.record
    }

    /// Everything that a read_committed reader sees.
    package var visible: [OutboundRecord] { (0..<lastStable).compactMap { visible(at: $0) } }

    /// The offsets from `start` to `end` at which such a reader sees a record.
    func visibleOffsets(from start: Int64 = 0, to end: Int64) -> [Int64] {
        (min(start, end)..<end).filter { visible(at: Int($0)) != nil }
    }

    /// Takes away the last record that `stays` does not hold for, and all that follows. No transaction may be open.
    package mutating func cutBehindLast(where stays: (OutboundRecord) -> Bool) {
        guard let last = entries.lastIndex(where: { $0.record.map { !stays($0) } ?? false }) else { return }
        entries.removeSubrange(last...)
    }

    /// Keeps the last value of each key, below the LSO only.
    ///
    /// - Parameter dropsTombstones: whether a key whose last value is a tombstone goes altogether.
    package mutating func compact(dropsTombstones: Bool = false) {
        var seen: Set<[UInt8]> = []
        for offset in (0..<lastStable).reversed() {
            guard let record = visible(at: offset) else { continue }
            let isLast = seen.insert(record.key ?? []).inserted
            if !isLast || (dropsTombstones && record.value == nil) { entries[offset].isRemoved = true }
        }
    }
}
