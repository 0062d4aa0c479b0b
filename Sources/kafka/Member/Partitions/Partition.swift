internal import KafkaPorts
internal import Pipeline
internal import Streams

/// A cell of a table of states and events.
enum Cell<State: Equatable>: Equatable {
    /// The event changes nothing.
    case ignored
    /// Only a bug of this program causes the event in that state: neither the library nor a broker can.
    case impossible
    case becomes(State)
}

/// An assigned partition: one drawn state, and what is known of its offsets.
///
///     assigned ─▶ asked ─▶ restoring ─┬──────────────────▶ starting ─▶ reading ⇄ rewinding
///        ▲                            ├─▶ committing ─────────▲           │
///        │ taken over again           └─▶ held ◀── damage beyond doubt ───┘
///        └── every state but revoked       every state ─▶ revoked ─▶ (gone)
struct Partition: Equatable {
    enum State: Equatable {
        /// The group has our answer; no offset of ours is known yet.
        case assigned
        /// The loop knows of it, and says whether it still has the ledger.
        case asked
        /// The ledger is read; it is given once the offset is known, too.
        case restoring(Restoring)
        /// The offset where reading starts is being committed first.
        case committing(CommitID, until: Moment)
        /// Must be sought and resumed; `since` is the first seek that failed, nil = none has.
        case starting(since: Moment?)
        case reading
        /// Must be sought; `since` as in ``starting(since:)``.
        case rewinding(since: Moment?)
        /// Waits for an operator.
        case held
        /// The loop may still commit, and then gives it back.
        case revoked
    }

    /// How far the ledger of a partition is read.
    enum Restoring: Equatable {
        case endsUnknown
        case reading(next: Int64, target: Int64)
        case given(target: Int64)
    }

    enum Event: Equatable {
        case announced
        /// The loop is ready for the ledger's records.
        case restore
        case ledgerProgress(Restoring)
        /// The ledger is whole: reading starts at ``Partition/next``, once that was committed, or not at all.
        case start
        case commitFirst(CommitID, until: Moment)
        case hold
        case startCommitted
        case sought
        case notSought(Moment)
        /// An abort, dropped records, or damage: everything after the committed offset is read again.
        case rewind
        case offsetGone
        /// Bytes that are damaged on every read.
        case damaged
        case takenOverAgain
        case gone
    }

    let number: Int32
    private(set) var state = State.assigned
    /// The group's next offset; nil = nothing was ever committed.
    private(set) var committed: Int64?
    /// Whether a worker of this version committed it.
    private(set) var isOwn = false
    /// Whether the brokers have said what is committed, since the partition was taken over.
    private(set) var isOffsetKnown = false
    /// The offset after the last record handed out; nil = start at the oldest record, wherever it is.
    private(set) var next: Int64?
    /// Everything before it was read, and since ``next`` there were only markers; nil = not known.
    private(set) var end: Int64?
    /// Whether a record, or the end, has come since the partition was taken over.
    private(set) var isRead = false
    /// The beginning and the end of its requests, as of its restore.
    var requestEnds: Watermarks?
    var damage = DamageTracker()
    var ledgerDamage = DamageTracker()

    var reported: Reported

    /// - Parameter start: what was reported of its start when it was ours before.
    init(_ number: Int32, start: PartitionStart.Report? = nil) {
        (self.number, reported) = (number, Reported(start: start))
    }

    /// The table of states; `MemberTests` has it as it is drawn.
    static func cell(_ state: State, _ event: Event) -> Cell<State> {
        switch (event, state) {
        case (.gone, _): .becomes(.revoked)
        case (_, .revoked): .ignored
        case (.takenOverAgain, _): .becomes(.assigned)
        case (.announced, .assigned): .becomes(.asked)
        case (.restore, .asked): .becomes(.restoring(.endsUnknown))
        case (.ledgerProgress(let progress), .restoring): .becomes(.restoring(progress))
        case (.start, .restoring): .becomes(.starting(since: nil))
        case (.commitFirst(let id, let end), .restoring): .becomes(.committing(id, until: end))
        case (.hold, .restoring): .becomes(.held)
        case (.startCommitted, .committing): .becomes(.starting(since: nil))
        case (.sought, .starting), (.sought, .rewinding): .becomes(.reading)
        case (.notSought(let now), .starting(since: nil)): .becomes(.starting(since: now))
        case (.notSought(let now), .rewinding(since: nil)): .becomes(.rewinding(since: now))
        case (.notSought, .starting), (.notSought, .rewinding): .ignored
        case (.rewind, .reading): .becomes(.rewinding(since: nil))
        case (.damaged, .reading): .becomes(.held)
        case (.offsetGone, .reading), (.offsetGone, .rewinding): .becomes(.assigned)
        case (.rewind, _), (.damaged, _), (.offsetGone, _): .ignored
        default: .impossible
        }
    }

    mutating func take(_ event: Event) {
        switch Self.cell(state, event) {
        case .ignored: break
        case .impossible: preconditionFailure("partition \(number) is \(state): \(event) comes only in other states")
        case .becomes(let next):
            state = next
            if next == .assigned { isOffsetKnown = false }
        }
    }
}

// MARK: - Offsets

extension Partition {
    /// The group's committed offset, when the partition is taken over.
    mutating func found(_ offset: CommittedOffset) {
        (committed, next, end, isRead) = (offset.offset, offset.offset, nil, false)
        (isOwn, isOffsetKnown) = (offset.metadata == PartitionPositions.metadata, true)
    }

    /// Whether the partition cannot start before its offset is known.
    var awaitsOffset: Bool { !isOffsetKnown && state != .held && state != .revoked }

    /// Sets the place where reading starts: everything before it is answered or gone. nil = at the oldest record.
    mutating func begin(at offset: Int64?) {
        (committed, next, end, isRead, isOwn) = (offset, offset, nil, false, false)
    }

    /// The place where reading goes on.
    var start: PartitionOffset { PartitionOffset(partition: number, offset: next ?? PartitionOffset.beginning) }

    /// The offset before which nothing is left to answer: after the committed offset, and after the markers that follow
    /// it where everything else is committed.
    var position: Int64? {
        guard let end, committed == next else { return committed }
        return max(end, committed ?? 0)
    }

    /// Notes a record that is about to be handed out.
    ///
    /// - Returns: false where offsets go back, as they may after a topic was recreated.
    mutating func noteHandedOut(_ offset: Int64) -> Bool {
        guard offset >= next ?? 0, offset < Int64.max else { return false }
        (next, isRead) = (offset + 1, true)
        return true
    }

    /// Notes that nothing but markers lies between the last record handed out and an offset.
    mutating func noteEnd(_ offset: Int64) {
        guard offset >= next ?? 0 else { return }
        (end, isRead) = (offset, true)
    }

    /// Records handed out since the last commit count as not handed out.
    mutating func forgetHandedOut() { (next, end) = (committed, nil) }

    /// - Throws: a ``KafkaFault`` that asks for an abort where a position does not belong to this assignment.
    func check(_ position: Int64) throws(KafkaFault) {
        let (low, high) = (committed ?? 0, next ?? 0)
        guard position >= low, position <= high else {
            throw .stale(
                "offset \(position) of partition \(number) does not belong to this assignment (\(low) to \(high))"
            )
        }
    }

    mutating func noteCommitted(_ offset: Int64) {
        precondition(offset >= committed ?? 0, "committed offsets of partition \(number) rise")
        committed = offset
        forgetStart()
    }
}
