internal import KafkaPorts
internal import Streams

/// The offsets up to which the ledgers are known that the loop has or keeps. They outlive an assignment, as kept
/// ledgers do.
struct KnownLedgers {
    private(set) var ends: [Int32: Int64] = [:]
    /// The newest mark that is known of each partition.
    private(set) var marks: [Int32: LedgerMark] = [:]
    /// The transactional id in the newest mark that was read of each partition; nothing where it has none.
    var writers: [Int32: [UInt8]] = [:]
    /// Identities of marks that are still to be written: the newest ones have none.
    private var fresh: [Int32: [UInt8]] = [:]

    /// Notes what was read of a partition to its end.
    mutating func note(_ end: Int64, _ mark: LedgerMark?, of partition: Int32) {
        // A worker that has seen the topic lose records starts a new identity: another one may keep a ledger that has them.
        let hasLost = ends[partition].map { $0 > end } ?? false
        let known = hasLost ? mark.map { LedgerMark(offset: $0.offset, identity: nil) } : mark
        (ends[partition], marks[partition]) = (end, known)
        // One that an earlier line of marks has may not come back in a later one.
        fresh[partition] = nil
    }

    /// Notes the ends of our own records, the last of which are marks.
    mutating func advance(_ ends: [Int32: Int64]) {
        for (partition, end) in ends where end > self.ends[partition] ?? 0 {
            let identity = fresh.removeValue(forKey: partition) ?? marks[partition]?.identity
            (self.ends[partition], marks[partition]) = (end, LedgerMark(offset: end - 1, identity: identity))
        }
    }

    /// The identity of the next mark of a partition.
    ///
    /// - Parameter isAtomic: whether transactions write the marks. A line of marks is of one kind, by a bit of its
    ///   identity: a ledger that is read on in the order of transactions must not meet a record that was delivered late.
    mutating func identity(of partition: Int32, isAtomic: Bool, _ make: () -> [UInt8]) -> [UInt8] {
        if let known = marks[partition]?.identity, Self.isOfKind(known, isAtomic: isAtomic) { return known }
        if let made = fresh[partition] { return made }
        var made = make()
        if let first = made.first { made[0] = first & 0xFE | (isAtomic ? 0 : 1) }
        fresh[partition] = made
        return made
    }

    /// Whether an identity is of the marks that transactions write, or of the others.
    static func isOfKind(_ identity: [UInt8], isAtomic: Bool) -> Bool {
        identity.first.map { $0 & 1 } == (isAtomic ? 0 : 1)
    }

    /// Notes that the topic has lost what was known: whatever the loop keeps, the partition is read from its beginning.
    mutating func distrust(_ partitions: Set<Int32>) {
        for partition in partitions { (ends[partition], marks[partition], fresh[partition]) = (.max, nil, nil) }
    }

    func of(_ partitions: Set<Int32>) -> KnownLedgers {
        var known = KnownLedgers()
        (known.ends, known.marks) = (ends.filter { partitions.contains($0.key) }, marks)
        return known
    }
}

/// A mark of a ledger, by the place and the identity by which what is kept of the ledger is known to be of this topic.
struct LedgerMark {
    let offset: Int64
    /// nil = an older version's, or a command's: what was kept before it counts no more.
    let identity: [UInt8]?
}

/// Reads the ledgers of newly assigned partitions, from where a kept one ends to the end offset at the time of asking.
///
/// The end is the high watermark, records of open transactions included: the last stable offset could miss the last
/// commit of the previous owner, whose marker may still be on its way. Partitions with known ends are read while the ends
/// of others are still being asked for.
struct LedgerReader {
    /// The ends of the ledgers that the loop still has.
    let known: KnownLedgers
    /// The newest mark of each partition that was read.
    var marks: [Int32: LedgerMark] = [:]
    /// Partitions of which more is known than is read, with the identity that the newest mark must have for that to count.
    var unproven: [Int32: [UInt8]] = [:]
    /// Files that are being read, and where the topic begins: its tail is read after them.
    var files: [Int32: any LedgerFile] = [:]
    /// Where the topic begins, of partitions that began with a file.
    var lows: [Int32: Int64] = [:]
    /// When a file last gave records.
    var filesMoved: Moment
    /// The source of each ledger.
    var sources: [Int32: LedgerSource] = [:]
    /// The time from which each partition has stood where its committed records end.
    private var still: [Int32: Moment] = [:]
    /// nil = no partition is being read yet.
    var port: (any TopicReading)?
    var query: QueryID?
    /// Whether the question is about partitions that are being read, too.
    var asksAgain = false
    var pause = RetryPause()
    /// The time at which a position last moved, or the ends of partitions that are being read were last asked for.
    var moved: Moment
    var records = 0
    /// The events that the loop has not heard of yet.
    var outcomes = Outcomes()
    /// Which partition is asked for first when the ends are asked for again.
    private var turn = 0

    init(known: KnownLedgers, at now: Moment) { (self.known, moved, filesMoved) = (known, now, now) }

    /// Whether a partition that was read to its end is the one that is known: no single record survives compaction, and
    /// each mark repeats the identity of the one before it.
    func isProven(_ partition: Int32) -> Bool {
        guard let identity = unproven[partition] else { return true }
        return marks[partition]?.identity == identity
    }

    mutating func note(_ partition: Int32, moves: Bool, at now: Moment) {
        still[partition] = moves ? nil : still[partition] ?? now
    }

    /// Whether something open has held a partition back for longer than a commit takes.
    func stands(_ partition: Int32, at now: Moment) -> Bool {
        still[partition].map { now - $0 >= Self.patience } ?? false
    }

    private static let patience: Int64 = 1_500

    func close() { port?.discard() }

    /// The partitions in turn, beginning with another one each time: only the first is asked for alone where one leader
    /// is absent.
    mutating func inTurn(_ partitions: [Int32]) -> [Int32] {
        guard !partitions.isEmpty else { return [] }
        defer { turn += 1 }
        let first = turn % partitions.count
        return Array(partitions[first...] + partitions[..<first])
    }

    /// Whether nothing comes: an open transaction holds the restore up, or the topic was cut and never reaches the end
    /// that was asked for.
    func isStill(at now: Moment) -> Bool { now - moved > Self.standstill }

    static let standstill: Int64 = 10_000

    /// Ledgers that are read from their beginnings, those that cannot be read, and those that were read to their ends.
    struct Outcomes {
        var copied: [Int32] = []
        var dropped: [Int32] = []
        var damaged: [PartitionDamage] = []
        var given: [Int32] = []
    }

    mutating func takeOutcomes() -> Outcomes {
        defer { outcomes = Outcomes() }
        return outcomes
    }
}
