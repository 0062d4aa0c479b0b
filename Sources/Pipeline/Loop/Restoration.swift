internal import Log

/// Restores the ledgers of newly assigned partitions from the topic into memory. Owned by the loop.
final class Restoration {
    /// Chunks with the lanes at most.
    static let chunksInFlight = 4
    static let chunkRecords = 8_192

    let partitions: [Int32]
    /// Partitions that the log was not asked to start yet.
    var waiting: [Int32]
    /// Partitions that the log has given completely, with the number of chunks that hold them.
    private var given: [Int32: Int] = [:]
    /// Offsets left to read.
    var remaining: Int64 = 0
    var unreadable = UnreadableRecords()
    /// Records applied so far.
    private(set) var applied = 0
    private var handed = 0
    private var next = 0
    private var decoded: [Int: [DecodedChange]] = [:]

    init(partitions: [Int32]) {
        self.partitions = partitions
        waiting = partitions
    }

    /// Everything is read: only the lanes have chunks left.
    private var isRead: Bool { given.count == partitions.count }

    /// Whether requests of a partition are read while the ledgers of others still are.
    var hasStarted = false

    var mayRead: Bool { !isRead && handed - next < Self.chunksInFlight }

    /// The log has given these partitions completely.
    func noteGiven(_ partitions: [Int32]) {
        for partition in partitions { given[partition] = given[partition] ?? handed }
    }

    /// A partition whose ledger is whole and that has not started yet.
    var whole: Int32? { waiting.first { given[$0].map { $0 <= next } ?? false } }

    /// The number of the next chunk that a lane gets.
    func hand() -> Int {
        defer { handed += 1 }
        return handed
    }

    /// Keeps a decoded chunk until its turn; lanes finish in any order.
    func add(_ changes: [DecodedChange], chunk: Int) { decoded[chunk] = changes }

    /// The next chunk whose turn it is.
    func take() -> [DecodedChange]? {
        guard let changes = decoded.removeValue(forKey: next) else { return nil }
        next += 1
        applied += changes.count
        return changes
    }
}

/// A ledger record that was read back, or the reason why it cannot be read.
enum DecodedChange: Sendable {
    case change(Int32, LedgerChange)
    /// A record that was deleted: a reset deletes unreadable records too.
    case tombstone(Int32, key: [UInt8], LedgerChange?)
    case fault(LedgerFault, key: [UInt8])

    init(_ record: StoredRecord) {
        do throws(LedgerCodec.Fault) {
            let change = try LedgerCodec.decode(key: record.key, value: record.value)
            self =
                record.value == nil
                ? .tombstone(record.partition, key: record.key, change) : .change(record.partition, change)
        } catch {
            self =
                record.value == nil
                ? .tombstone(record.partition, key: record.key, nil)
                : .fault(LedgerFault(partition: record.partition, reason: error.reason), key: record.key)
        }
    }
}

/// Records that could not be read, as long as they stand: a later record of the same key replaces them.
struct UnreadableRecords {
    private struct Place: Hashable {
        let partition: Int32
        let key: [UInt8]
    }

    private var faults: [Place: LedgerFault] = [:]

    var isEmpty: Bool { faults.isEmpty }

    /// The fault that keeps a partition's ledger from being whole, always the same one of several; nil = none.
    func first(of partition: Int32) -> LedgerFault? {
        faults.values.filter { $0.partition == partition }.min { $0.reason < $1.reason }
    }

    mutating func add(_ fault: LedgerFault, key: [UInt8]) {
        faults[Place(partition: fault.partition, key: key)] = fault
    }

    mutating func remove(_ partition: Int32, key: [UInt8]) {
        if !isEmpty { faults[Place(partition: partition, key: key)] = nil }
    }
}

/// The progress of a restore.
package struct RestoreProgress: Sendable, Equatable {
    package var records: Int
    package var remaining: Int64

    package init(records: Int, remaining: Int64) {
        self.records = records
        self.remaining = remaining
    }

    /// Of two loops together.
    package static func + (one: RestoreProgress, other: RestoreProgress) -> RestoreProgress {
        RestoreProgress(records: one.records + other.records, remaining: one.remaining + other.remaining)
    }
}
