internal import KafkaPorts

/// Reads the ledgers of partitions of others on and on, so that they are kept ledgers when they become ours.
struct StandbyReader {
    /// How far a partition's ledger is read.
    struct Part {
        var next: Int64
        /// The topic's end as of the last answer, and as of the first one.
        var end: Int64
        let firstEnd: Int64
        /// The newest mark that was read, or from which reading went on.
        var mark: LedgerMark?
        /// Whether the loop keeps it: it was read to an end, and what is read since counts as long as its marks go on.
        var isWhole: Bool
        /// When it began, or was last as the topic is: for longer, tombstones may be missed.
        var fresh: Moment
        /// Where it last had a fault: a damaged record, or a refusal.
        var fault: Int64?
        /// Where the next record was when the end was last asked for: a topic that ends before it was cut.
        var asked: Int64 = 0
        /// Whether the leader has told the end, and the loop has not heard since that the ledger is as the topic is.
        var isAnswered = true

        var lag: Int64 { max(0, end - next) }

        mutating func noteAsked() { asked = next }

        mutating func noteEnd(_ end: Int64) { (self.end, isAnswered) = (end, true) }

        init(next: Int64, end: Int64, from mark: LedgerMark? = nil, at now: Moment) {
            (self.next, self.end, firstEnd, self.mark, fresh) = (next, end, end, mark, now)
            isWhole = mark != nil
        }
    }

    /// Enough for a reader to wake leaders' threads that sleep because its queue was full.
    static let waitMilliseconds = 2
    /// A first reading that has not reached the end for so long begins again.
    static let mostMilliseconds: Int64 = 15 * 60_000
    /// How many ledgers are read from their beginnings at a time: each is soon at its end.
    static let mostFirst = 2
    /// The time that a round of questions for all ends takes at least, and the pause between two questions.
    private static let roundMilliseconds: Int64 = 10_000
    private static let leastMilliseconds: Int64 = 1_000
    /// How long nothing is read of a partition that cannot be read.
    static let asideMilliseconds: Int64 = 600_000
    static let lateMilliseconds: Int64 = 3_600_000

    var parts: [Int32: Part] = [:]
    /// The partitions that are wanted beside our own ones, which decide it.
    private(set) var wanted: (own: [Int32], others: [Int32]) = ([], [])
    /// Partitions that cannot be read, and until when nothing is tried.
    private var aside: [Int32: Moment] = [:]
    /// nil = none is being read, or a fault has ended it.
    var port: (any TopicReading)?
    /// The question that is under way.
    var query: QueryID?
    /// The answer, until the loop asks for records.
    var ends: [Int32: Watermarks] = [:]
    var pause = RetryPause()
    /// Partitions of ours whose ledgers were followed until they were assigned.
    var handedOver: Set<Int32> = []
    /// Whether the last read gave nothing: another one need not wait.
    var isDry = false
    private var asked: Moment?
    /// The most partitions of a question: one absent leader holds back the answer about all of them.
    private var most = Int.max
    private var turn = 0

    /// The partitions that are read, in their order.
    var numbers: [Int32] { parts.keys.sorted() }
    var isBehind: Bool { parts.values.contains { $0.lag > 0 } }
    var mayBegin: Bool { parts.values.count { !$0.isWhole && $0.lag > 0 } < Self.mostFirst }

    mutating func want(besides own: [Int32], of partitions: Int32, loops: Int) {
        guard own != wanted.own else { return }
        wanted = (own, StandbyPlacement.partitions(besides: own, of: partitions, loops: loops))
    }

    /// The partitions to ask for, in turn; nothing = no question is due.
    mutating func due(at now: Moment) -> [Int32] {
        let wanted = wanted.others
        guard !wanted.isEmpty else { return [] }
        let isMissing = mayBegin && wanted.contains { parts[$0] == nil && !isAside($0, at: now) }
        let count = min(most, wanted.count)
        let share = Self.roundMilliseconds * Int64(count) / Int64(wanted.count)
        let pause = isMissing ? Self.leastMilliseconds : max(Self.leastMilliseconds, share)
        if let asked, now - asked < pause { return [] }
        asked = now
        for number in numbers { parts[number]?.noteAsked() }
        defer { turn = (turn + count) % wanted.count }
        let first = turn % wanted.count
        return Array((wanted[first...] + wanted[..<first]).prefix(count))
    }

    mutating func noteAnswer(isComplete: Bool, at now: Moment) {
        // The pause follows the answer.
        (query, asked) = (nil, now)
        let count = min(most, max(1, wanted.others.count))
        most = isComplete ? count * 2 : max(1, count / 2)
    }

    func isAside(_ number: Int32, at now: Moment) -> Bool { aside[number].map { now < $0 } ?? false }

    /// No port reads it by now.
    mutating func putAside(_ number: Int32, at now: Moment, for milliseconds: Int64 = asideMilliseconds) {
        (parts[number], aside[number]) = (nil, now + milliseconds)
    }

    /// Reads no more of a partition.
    mutating func leave(_ number: Int32) {
        guard parts.removeValue(forKey: number) != nil else { return }
        do throws(KafkaFault) { try port?.stop([number]) } catch { close() }
    }

    /// Nothing more is read by this port; the parts go on with another one.
    mutating func close() {
        port?.discard()
        port = nil
    }
}
