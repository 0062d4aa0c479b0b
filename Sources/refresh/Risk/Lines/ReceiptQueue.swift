internal import AppAttest

/// A line's reading of one partition: a line and a partition are what its consumer group hands out.
package struct LinePair: Hashable, Sendable {
    package let line: ReceiptLine
    package let partition: Int32

    package init(line: ReceiptLine, partition: Int32) { (self.line, self.partition) = (line, partition) }
}

/// The receipts of one pair that were read and not exchanged yet, in the order of their offsets, and the position that
/// may be committed.
struct ReceiptQueue: Sendable {
    /// Calls for one receipt; after the last one its line skips it.
    static let mostCalls = 5
    /// Milliseconds from a failed call for a receipt to the next one: together they outlast a restart of Apple's.
    static let pauses: [4 of Int64] = [
        2 * Milliseconds.second, 20 * Milliseconds.second, 3 * Milliseconds.minute, 15 * Milliseconds.minute,
    ]
    /// Offsets from the position to the last record that was read: a process that is killed exchanges so many again.
    static let mostSpan: Int64 = 5_000

    struct Entry: Sendable {
        let offset: Int64
        /// When the exchange was due first.
        let due: EvaluationTime
        let receipt: HeldReceipt
        var account: CallAccount
        var failures = 0
        /// Whether it has been the head: the first one that waits for its turn.
        var hadTurn = false
        /// When its next call may begin; never = one is under way.
        var wake: EvaluationTime
        /// The end of its pause after a call that failed.
        var pausedUntil: EvaluationTime

        var isCalling: Bool { wake == .never }
    }

    let pair: LinePair
    /// Counts the assignments: an answer after a revocation belongs to nobody.
    let assignment: Int
    private let settings: LineSettings
    private let mostEntries: Int
    private(set) var entries: [Entry] = []
    /// The next offset to read; 0 before the first record.
    private(set) var nextOffset: Int64 = 0
    var isPaused = false
    /// Whether it is paused because it was full; else it goes on as soon as it is sought.
    var wasFull = false
    /// Whether a record came that there was no room for: nothing is taken before the partition was read again from there.
    var hasDropped = false
    /// The position that was handed out to be committed last.
    var committed: Int64 = 0
    /// When the next call may begin.
    private(set) var wake = EvaluationTime.never

    init(_ pair: LinePair, assignment: Int, settings: LineSettings, mostEntries: Int) {
        (self.pair, self.assignment, self.settings, self.mostEntries) = (pair, assignment, settings, mostEntries)
    }

    /// The first record whose exchange has not ended, or the end of what was read: what is before it is never read
    /// again.
    var position: Int64 { entries.first?.offset ?? nextOffset }

    /// When the oldest exchange that has not ended was or is due; nil while there is none.
    var oldestDue: EvaluationTime? { entries.first?.due }

    /// Whether another record may be read.
    var hasRoom: Bool { entries.count < mostEntries && nextOffset - position < Self.mostSpan }

    /// Whether half of the room is free again.
    var isHalfFree: Bool { entries.count <= mostEntries / 2 && nextOffset - position <= Self.mostSpan / 2 }

    /// Takes the next record.
    ///
    /// - Parameter receipt: nil = nothing to exchange, such as a tombstone.
    /// - Precondition: there is room, and offsets grow; compaction leaves gaps.
    mutating func append(_ offset: Int64, _ receipt: (held: HeldReceipt, account: CallAccount)?) {
        precondition(offset >= nextOffset && hasRoom, "records come in the order of their offsets, while there is room")
        nextOffset = offset.clampedAdding(1)
        guard let receipt else { return }
        let due = pair.line.due(receipt.held.dates, settings)
        guard !receipt.held.dates.isExpired(at: due) else { return }
        let (held, account) = (receipt.held, receipt.account)
        entries.append(
            Entry(offset: offset, due: due, receipt: held, account: account, wake: due, pausedUntil: due)
        )
        refresh()
    }

    /// The first receipt whose call may begin: the head, or one that had its turn. Expired ones are passed.
    mutating func due(at time: EvaluationTime) -> Entry? {
        while wake <= time, let index = active.first(where: { entries[$0].wake <= time }) {
            guard entries[index].receipt.dates.isExpired(at: time) else { return entries[index] }
            entries.remove(at: index)
            refresh()
        }
        return nil
    }

    /// The receipts that had their turn, and the head. The others wait for it: what is exchanged past a receipt that is not
    /// due yet would be exchanged again after a restart.
    private var active: Range<Int> {
        0..<(entries.firstIndex { !$0.hadTurn }.map { $0 + 1 } ?? entries.count)
    }

    /// A call begins for the receipt that ``due(at:)`` named.
    mutating func begin(_ offset: Int64) {
        guard let index = index(of: offset), !entries[index].isCalling else {
            preconditionFailure("a call begins for a receipt that waits")
        }
        (entries[index].hadTurn, entries[index].wake) = (true, .never)
        refresh()
    }

    /// The receipt of an account that has failed least often, of those whose calls may begin; of equal ones the newest,
    /// which Apple knows most likely.
    func leastFailed(of account: CallAccount, at time: EvaluationTime) -> Entry? {
        entries[active].filter { $0.account == account && $0.wake <= time && !$0.receipt.dates.isExpired(at: time) }
            .min { ($0.failures, $1.offset) < ($1.failures, $0.offset) }
    }

    /// No call of this account begins before that time: its receipts that are due wait, and others go first.
    mutating func hold(_ account: CallAccount, until: EvaluationTime, at time: EvaluationTime) {
        var index = 0
        // Where the head is held, the next one is the head.
        while index < entries.count, index == 0 || entries[index - 1].hadTurn {
            if entries[index].account == account, entries[index].wake <= time {
                (entries[index].hadTurn, entries[index].wake) = (true, until)
            }
            index += 1
        }
        refresh()
    }

    /// The receipts of this account are held no longer; those that have failed keep their pauses.
    mutating func release(_ account: CallAccount, at time: EvaluationTime) {
        for index in active where entries[index].account == account && !entries[index].isCalling {
            entries[index].wake = min(entries[index].wake, max(entries[index].pausedUntil, time))
        }
        refresh()
    }

    /// The exchange of a receipt has ended.
    mutating func end(_ offset: Int64) {
        guard let index = index(of: offset) else { return }
        entries.remove(at: index)
        refresh()
    }

    /// A call has failed in a way that may pass.
    ///
    /// - Returns: whether it was the receipt's last one.
    mutating func fail(_ offset: Int64, at time: EvaluationTime) -> Bool {
        guard let index = index(of: offset) else { return false }
        let failures = entries[index].failures + 1
        guard failures < Self.mostCalls else {
            end(offset)
            return true
        }
        entries[index].failures = failures
        wait(offset, until: time.after(milliseconds: Self.pauses[failures - 1]))
        return false
    }

    /// A call has failed, and it is not counted.
    mutating func wait(_ offset: Int64, until: EvaluationTime) {
        guard let index = index(of: offset) else { return }
        (entries[index].wake, entries[index].pausedUntil) = (until, until)
        refresh()
    }

    /// Computes the account of each receipt again, after a reload.
    ///
    /// - Parameter account: nil = the receipt is not exchanged any more.
    mutating func assignAccounts(_ account: (HeldReceipt) -> CallAccount?) {
        entries = entries.compactMap { entry in
            account(entry.receipt).map { account in
                var entry = entry
                entry.account = account
                return entry
            }
        }
        refresh()
    }

    private mutating func refresh() { wake = entries[active].reduce(.never) { min($0, $1.wake) } }

    private func index(of offset: Int64) -> Int? { entries.firstIndex { $0.offset == offset } }
}
