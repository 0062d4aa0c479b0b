internal import KafkaPorts
internal import Streams

/// The output that the writer has, as the member sees it.
///
///     idle ─ write ─▶ writing ─ written ─┬────────────────────────────▶ ended ─ taken by the loop ─▶ idle
///      │                 │               └─ offsets are due ─▶ committing ─┘
///      │                 └──────────── fault ──▶ failed ◀──────────┘
///      └─ abort ─▶ aborting ◀── abort ──────────────┘
///      ▲               └─ aborted ─▶ aborted ─ taken by the loop ─▶ idle
struct Output {
    enum State: Equatable {
        case idle
        case writing
        /// Everything is durable but the offsets.
        case committing(CommitID, until: Moment)
        case ended
        /// `isInDoubt` = the output may be durable all the same.
        case failed(isInDoubt: Bool)
        case aborting(isInDoubt: Bool)
        case aborted
    }

    enum Event: Equatable {
        case write
        case written
        case offsetsAreDue(CommitID, until: Moment)
        case failed(isInDoubt: Bool)
        /// The answer to an offset commit of this output.
        case committed
        case abort
        case aborted
        case taken
    }

    private(set) var state = State.idle
    /// The writer has the transactional id to take over.
    var isTakingOver = false
    private(set) var budget: CallBudget?
    private(set) var positions: [PartitionPosition] = []
    /// The ledger's ends after the output that has ended.
    var ledgerEnds: [Int32: Int64] = [:]
    var fault: KafkaFault?
    private(set) var timeShare = 0.0
    /// When a broker appended the ledger's records of the last output that was written.
    private(set) var ledgerTime: Int64?

    static func cell(_ state: State, _ event: Event) -> Cell<State> {
        switch (event, state) {
        case (.write, .idle): .becomes(.writing)
        case (.written, .writing): .becomes(.ended)
        case (.offsetsAreDue(let id, let end), .writing): .becomes(.committing(id, until: end))
        case (.failed(let isInDoubt), .writing), (.failed(let isInDoubt), .committing):
            .becomes(.failed(isInDoubt: isInDoubt))
        case (.committed, .committing): .becomes(.ended)
        case (.abort, .idle): .becomes(.aborting(isInDoubt: false))
        case (.abort, .failed(let isInDoubt)): .becomes(.aborting(isInDoubt: isInDoubt))
        case (.abort, .aborting), (.abort, .aborted): .ignored
        case (.aborted, .aborting): .becomes(.aborted)
        case (.taken, .ended), (.taken, .aborted): .becomes(.idle)
        default: .impossible
        }
    }

    mutating func take(_ event: Event) {
        switch Self.cell(state, event) {
        case .ignored: break
        case .impossible: preconditionFailure("the output is \(state): \(event) comes only in other states")
        case .becomes(let next):
            assert(next != state, "a step leads somewhere")
            state = next
        }
    }

    mutating func begin(_ positions: [PartitionPosition], _ budget: CallBudget) {
        assert(state == .idle, "one output at a time")
        take(.write)
        (self.positions, self.budget, ledgerEnds, fault) = (positions, budget, [:], nil)
    }

    /// Notes what the writer says of an output that it has written.
    mutating func note(ledgerEnds: [Int32: Int64], timeShare: Double, ledgerTime: Int64?) {
        assert(state == .writing && fault == nil, "an output is noted once, while it is written")
        (self.ledgerEnds, self.timeShare, self.ledgerTime) = (ledgerEnds, timeShare, ledgerTime)
    }

    /// Whether the writer must not be asked for anything else.
    var isBusy: Bool { state != .idle || isTakingOver }

    /// Whether an answer of the writer, or to an offset commit, is awaited.
    var isAwaited: Bool {
        switch state {
        case .writing, .committing, .aborting: true
        case .idle, .ended, .failed, .aborted: isTakingOver
        }
    }

    /// The group waits: the output gives up soon.
    func hurry(at now: Moment) { budget?.shorten(to: now + Self.grace) }

    /// Nothing more of the output goes to the coordinator.
    func noteLost() { budget?.noteLost() }

    /// The output may count.
    func letGo() { budget?.letGo() }

    /// How much time an output keeps once the group waits for an answer, or a stop was asked for.
    private static let grace: Int64 = 3_000
}
