internal import KafkaPorts
internal import Streams

/// The offsets up to which the ledgers are known that the loop has or keeps. They outlive an assignment, as kept
/// ledgers do.
struct KnownLedgers {
    private(set) var ends: [Int32: Int64] = [:]
    /// The offset of the last record that is known, where there is one.
    private(set) var lasts: [Int32: Int64] = [:]
    /// The transactional id in the newest mark that was read of each partition; nothing where it has none.
    var writers: [Int32: [UInt8]] = [:]

    mutating func note(_ end: Int64, last: Int64?, of partition: Int32) {
        ends[partition] = end
        lasts[partition] = last
    }

    /// Notes the ends of our own records.
    mutating func advance(_ ends: [Int32: Int64]) {
        self.ends.merge(ends, uniquingKeysWith: max)
        lasts.merge(ends.mapValues { $0 - 1 }, uniquingKeysWith: max)
    }

    /// Notes that the topic has lost what was known: whatever the loop keeps, the partition is read from its beginning.
    mutating func distrust(_ partitions: Set<Int32>) {
        for partition in partitions {
            ends[partition] = .max
            lasts[partition] = nil
        }
    }

    func of(_ partitions: Set<Int32>) -> KnownLedgers {
        var known = KnownLedgers()
        for partition in partitions {
            (known.ends[partition], known.lasts[partition]) = (ends[partition], lasts[partition])
        }
        return known
    }
}

/// Reads the ledgers of newly assigned partitions, from where a kept one ends to the end offset at the time of asking.
///
/// The end is the high watermark, records of open transactions included: the last stable offset could miss the last
/// commit of the previous owner, whose marker may still be on its way. Partitions with known ends are read while the ends
/// of others are still being asked for.
struct LedgerReader {
    /// The ends of the ledgers that the loop still has.
    let known: KnownLedgers
    /// The offset of the last record of each partition that is known or was read.
    var lasts: [Int32: Int64] = [:]
    /// Partitions whose last known record must come first.
    var unmet: Set<Int32> = []
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

    init(known: KnownLedgers, at now: Moment) { (self.known, moved) = (known, now) }

    /// Notes a record that was read.
    ///
    /// - Returns: false if another one is known at its place, or before it.
    mutating func meets(_ offset: Int64, of partition: Int32) -> Bool {
        let isExpected = unmet.remove(partition) == nil || lasts[partition] == offset
        lasts[partition] = offset
        return isExpected
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

    private static let standstill: Int64 = 10_000

    /// Ledgers that are read from their beginnings, those that cannot be read, and those that were read to their ends.
    struct Outcomes {
        var dropped: [Int32] = []
        var damaged: [PartitionDamage] = []
        var given: [Int32] = []
    }

    mutating func takeOutcomes() -> Outcomes {
        defer { outcomes = Outcomes() }
        return outcomes
    }
}
