internal import Crypto
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams

/// The keys of a ledger's records that have a value, and its marks, whether this version can read the records or not.
struct LedgerContent {
    private(set) var live: [LiveLedgerKeys]
    private(set) var marks: [Int32: PartitionMark] = [:]
    /// The ends of all partitions.
    private(set) var ends: [Int64] = []

    /// Reads the ledger until no transaction is open.
    ///
    /// - Parameter begin: partitions' ends after which no record may come.
    init(
        _ access: LedgerAccess,
        partitions: Int32,
        only chosen: Set<Int32>? = nil,
        until begin: [Int32: Watermarks] = [:],
        progress: (Int) -> Void = { _ in }
    ) throws {
        var live = [LiveLedgerKeys](repeating: LiveLedgerKeys(), count: Int(partitions))
        var marks: [Int32: PartitionMark] = [:]
        let reader = try LedgerReader(access, partitions: partitions, only: chosen)
        ends = try reader.readSettled(progress: progress) { record in
            guard let key = record.key, chosen?.contains(record.partition) ?? true else { return }
            let isNew = record.offset >= begin[record.partition]?.high ?? .max
            if isNew { throw CommandFault.writtenMeanwhile(access.topic, record.partition) }
            live[Int(record.partition)].note(key, isLive: record.value != nil)
            if key == LedgerMarks.key { marks[record.partition] = LedgerMarks.mark(record) }
        }
        (self.live, self.marks) = (live, marks)
    }

    var isEmpty: Bool { live.allSatisfy { $0.count == 0 } }

    mutating func forget(_ key: [UInt8], on partition: Int32) { live[Int(partition)].note(key, isLive: false) }

    /// A tombstone for each record that is left.
    func tombstones() -> AnyIterator<StoredRecord> {
        var rest = live.enumerated().lazy.flatMap { partition, keys in
            keys.iterator().lazy.map { StoredRecord(partition: Int32(partition), key: $0, value: nil) }
        }.makeIterator()
        return AnyIterator { rest.next() }
    }
}
