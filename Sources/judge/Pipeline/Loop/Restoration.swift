internal import Streams

/// Restores the ledgers of newly assigned partitions from the topic into memory. Owned by the loop.
///
/// A ledger is given to one lane at a time, which decodes and applies all records that have come for it; ledgers of
/// several partitions go on at once.
final class Restoration {
    static let chunkRecords = 4_096
    /// The most records with the lanes or waiting for one before the next chunk is read.
    static let recordsInFlight = 3 * chunkRecords

    private struct Part {
        let work: RestoringLedger
        /// Records that no lane has got yet.
        var pieces: [RestoringLedger.Piece] = []
        /// The first chunk that a lane works on; nil = none does.
        var busyChunk: Int?

        /// The first chunk that is not applied to the end.
        var openChunk: Int? { busyChunk ?? pieces.first?.chunk }
    }

    let partitions: [Int32]
    /// The number under which the member announced them.
    let announcement: Generation
    /// Partitions that the member was not asked to start yet.
    var waiting: [Int32]
    /// Partitions that the member has given completely, with the number of chunks that hold them.
    private var given: [Int32: Int] = [:]
    /// Offsets left to read.
    var remaining: Int64 = 0
    /// Records applied so far.
    private(set) var applied = 0
    private var inFlight = 0
    private var chunks = 0
    /// Ledgers that have got records, by ledger partition.
    private var parts: [Int32: Part] = [:]
    private let ledgerPartition: (Int32) -> Int32

    init(partitions: [Int32], of announcement: Generation, ledgerPartition: @escaping (Int32) -> Int32) {
        (self.partitions, self.announcement) = (partitions, announcement)
        waiting = partitions
        self.ledgerPartition = ledgerPartition
    }

    /// Partitions of whose ledgers nothing counts: the member cannot read them.
    private(set) var unusable: Set<Int32> = []

    /// Whether requests of a partition are read while the ledgers of others still are.
    var hasStarted = false

    /// Once everything is read, only the lanes have records left.
    var mayRead: Bool { given.count < partitions.count && inFlight < Self.recordsInFlight }

    /// Notes that the member has given these partitions completely.
    func noteGiven(_ partitions: [Int32]) {
        for partition in partitions { given[partition] = given[partition] ?? chunks }
        assert(given.count <= self.partitions.count, "no other ledger is given than those that were announced")
    }

    /// Whether the member still gives records of a partition's ledger.
    func isReading(_ partition: Int32) -> Bool { waiting.contains(partition) && given[partition] == nil }

    /// Notes that no more comes of a partition's ledger, and what came does not count.
    func noteUnusable(_ partition: Int32) {
        unusable.insert(partition)
        noteGiven([partition])
    }

    /// A partition whose ledger is whole, with all that came before its end, and that has not started yet.
    var whole: Int32? {
        let open = parts.values.lazy.compactMap(\.openChunk).min() ?? chunks
        return waiting.first { partition in
            let number = ledgerPartition(partition)
            // Partitions that share a ledger wait for each other.
            return waiting.allSatisfy { ledgerPartition($0) != number || given[$0].map { $0 <= open } ?? false }
        }
    }

    /// Takes records for the ledgers of partitions that are not given completely yet.
    ///
    /// A ledger whose partition has started is ahead of whatever is still read of it: an older record would take its
    /// counters back.
    ///
    /// - Parameter open: the ledger to go on with.
    /// - Returns: ledger partitions that have got records.
    func add(_ records: StoredRecords, open: (Int32) -> PartitionLedger) -> [Int32] {
        var ranges: [Int32: [Range<Int>]] = [:]
        for (partition, range) in records.runs {
            if waiting.contains(partition), given[partition] == nil {
                ranges[ledgerPartition(partition), default: []].append(range)
                inFlight += range.count
            } else {
                applied += range.count
            }
        }
        for (number, ranges) in ranges {
            parts[number, default: Part(work: RestoringLedger(open(number)))].pieces
                .append(RestoringLedger.Piece(records: records, chunk: chunks, ranges: ranges))
        }
        chunks += 1
        return ranges.keys.sorted()
    }

    /// The work that there is on a ledger; nil = none, or a lane is at it.
    func begin(_ number: Int32) -> (RestoringLedger, [RestoringLedger.Piece])? {
        guard var part = parts[number], part.busyChunk == nil, let chunk = part.openChunk else { return nil }
        let pieces = part.pieces
        assert(!pieces.isEmpty && inFlight > 0, "a lane gets work that was taken")
        (part.pieces, part.busyChunk) = ([], chunk)
        parts[number] = part
        return (part.work, pieces)
    }

    /// Notes that a lane has applied as many records to a ledger.
    func finish(_ number: Int32, _ work: RestoringLedger, records: Int) {
        assert(parts[number]?.work !== work || parts[number]?.busyChunk != nil, "a lane ends what it began")
        if parts[number]?.work === work { parts[number]?.busyChunk = nil }
        inFlight -= records
        applied += records
        assert(records >= 0 && inFlight >= 0, "no more is applied than was taken")
    }

    /// Drops what was read for a ledger so far; its next records begin another one.
    func drop(_ number: Int32) {
        guard let part = parts.removeValue(forKey: number) else { return }
        inFlight -= part.pieces.reduce(0) { $0 + $1.count }
        assert(inFlight >= 0, "no more is dropped than was taken")
    }

    /// A ledger that is whole; nil = it got no records.
    func takeLedger(of partition: Int32) -> PartitionLedger? {
        guard let part = parts[ledgerPartition(partition)] else { return nil }
        precondition(part.openChunk == nil, "no lane works on a whole ledger")
        return part.work.takeLedger()
    }

    /// The records of a partition that could not be read, once its ledger is whole.
    func unreadable(of partition: Int32) -> UnreadableRecords {
        parts[ledgerPartition(partition)]?.work.unreadable ?? UnreadableRecords()
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

    package init(records: Int, remaining: Int64) { (self.records, self.remaining) = (records, remaining) }

    /// The sum of two loops' progress.
    package static func + (one: RestoreProgress, other: RestoreProgress) -> RestoreProgress {
        RestoreProgress(records: one.records + other.records, remaining: one.remaining + other.remaining)
    }
}
