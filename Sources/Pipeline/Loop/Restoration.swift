/// The ledgers of newly assigned partitions on their way from the topic into memory. Owned by the loop.
final class Restoration {
    /// Chunks with the lanes at most.
    static let chunksInFlight = 4
    static let chunkRecords = 8_192

    let partitions: [Int32]
    /// The log has given everything.
    var isRead = false
    /// Offsets left to read.
    var remaining: Int64 = 0
    /// Records applied so far.
    private(set) var applied = 0
    private var handed = 0
    private var next = 0
    private var decoded: [Int: [DecodedChange]] = [:]

    init(partitions: [Int32]) { self.partitions = partitions }

    var mayRead: Bool { !isRead && handed - next < Self.chunksInFlight }

    var isDone: Bool { isRead && handed == next }

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

/// A ledger record that was read back, or why it cannot be.
enum DecodedChange: Sendable {
    case change(Int32, LedgerChange)
    case fault(LedgerFault)

    init(_ record: StoredRecord) {
        do throws(LedgerCodec.Fault) {
            self = .change(record.partition, try LedgerCodec.decode(key: record.key, value: record.value))
        } catch { self = .fault(LedgerFault(partition: record.partition, reason: error.reason)) }
    }
}

/// How far a restore is.
package struct RestoreProgress: Sendable, Equatable {
    package var records: Int
    package var remaining: Int64
}
