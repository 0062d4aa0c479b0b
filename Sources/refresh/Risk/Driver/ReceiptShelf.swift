/// The receipts that lines have read and not exchanged yet, within a bound for all of them together: each pair has its
/// part, and one that has used it up is read no further. A pair without any may always take one.
struct ReceiptShelf: Sendable {
    /// Bytes of the receipts of all pairs.
    let mostBytes: Int
    /// Visits of all pairs that are remembered from the positions on, ended ones among them.
    let mostSpanned: Int
    /// The least part of a pair: what is kept and what is read ahead.
    static let leastSpanned = LinePartition.mostKept + LinePartition.mostPrefetched

    struct Reading: Sendable {
        var receipts: [Int64: HeldReceipt] = [:]
        var bytes = 0
        /// The next offset to read; 0 before the first record.
        var next: Int64 = 0
        var isPaused = false
        /// Whether the client library reads on all the same, as after a reload.
        var mustPause = false
        /// Visits from the position on that have ended: a second reading passes them.
        var ended: Set<Int64> = []
        /// Calls under way that a reading before began: until they have ended nothing is read.
        var awaited: Set<UInt> = []
        /// The position that was handed out to be committed last.
        var committed: Int64 = 0
    }

    var readings: [LinePair: Reading] = [:]

    init(mostBytes: Int, mostSpanned: Int) { (self.mostBytes, self.mostSpanned) = (mostBytes, mostSpanned) }

    var bytes: Int { readings.values.reduce(0) { $0 + $1.bytes } }

    private var part: Int { mostBytes / max(1, readings.count) }

    var spannedPart: Int { max(Self.leastSpanned, mostSpanned / max(1, readings.count)) }

    /// A part may be exceeded by one receipt.
    func isFull(_ pair: LinePair) -> Bool { readings[pair].map { $0.bytes >= part } ?? true }

    /// Whether half of the part is free.
    func isHalfFree(_ pair: LinePair) -> Bool { readings[pair].map { $0.bytes <= part / 2 } ?? false }

    mutating func put(_ receipt: HeldReceipt, _ offset: Int64, _ pair: LinePair) {
        readings[pair]?.receipts[offset] = receipt
        readings[pair]?.bytes += receipt.size
    }

    func receipt(_ pair: LinePair, _ offset: Int64) -> HeldReceipt? { readings[pair]?.receipts[offset] }

    mutating func remove(_ pair: LinePair, _ offset: Int64) {
        guard let receipt = readings[pair]?.receipts.removeValue(forKey: offset) else { return }
        readings[pair]?.bytes -= receipt.size
    }

    /// The visit of a call is over.
    mutating func end(_ pair: LinePair, _ offset: Int64) {
        remove(pair, offset)
        readings[pair]?.ended.insert(offset)
    }

    /// Forgets what was read from a position on, to read it again.
    ///
    /// - Parameter calls: under way, of this pair.
    mutating func restart(_ pair: LinePair, from position: Int64, awaiting calls: Set<UInt>) {
        guard var reading = readings[pair] else { return }
        (reading.receipts, reading.bytes, reading.next) = ([:], 0, position)
        (reading.mustPause, reading.isPaused) = (!reading.isPaused || reading.mustPause, true)
        reading.awaited.formUnion(calls)
        readings[pair] = reading
    }

    /// Drops what lies before a position: receipts that expired before their visit.
    mutating func trim(_ pair: LinePair, before position: Int64) {
        let ended: Set<Int64> = readings[pair]?.ended.filter { $0 >= position } ?? []
        readings[pair]?.ended = ended
        let passed = readings[pair]?.receipts.keys.filter { $0 < position } ?? []
        for offset in passed { remove(pair, offset) }
    }
}
