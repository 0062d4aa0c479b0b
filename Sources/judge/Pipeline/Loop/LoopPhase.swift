internal import Streams

/// Whether the loop takes input, and what is left to do if not.
///
///     ended ◀─ end of input ── reading ◀──── aborted ──── aborting
///      │ └── batches dropped ──▶ │ └─────── fault ──────────▶ │
///      │ stop                    │ stop                       │ stop
///      └──────▶ stopping ◀───────┘                            │
///                  └──────────── fault ──────▶ abandoned ◀────┘
enum LoopPhase: DrawnState, CaseIterable {
    case reading
    /// All polled records are finished; nothing more comes.
    case ended
    /// The transaction must be dropped before anything else; nothing is in flight.
    case aborting
    /// Polls no more: the oldest batch is being finished.
    case stopping
    /// Was stopped with an abort due: the next owner repeats what was in flight.
    case abandoned

    var isStopped: Bool { self == .stopping || self == .abandoned }
    var isAbortDue: Bool { self == .aborting || self == .abandoned }

    func mayBecome(_ next: LoopPhase) -> Bool {
        switch (self, next) {
        case (.reading, .ended), (.reading, .aborting), (.reading, .stopping): true
        case (.ended, .reading), (.ended, .stopping): true
        case (.aborting, .reading), (.aborting, .abandoned): true
        case (.stopping, .abandoned): true
        default: false
        }
    }
}

/// A state whose steps are drawn in its type's comment; a variable of it checks every assignment. A step that is not
/// drawn is a bug in this program: neither input nor broker can cause one.
package protocol DrawnState {
    func mayBecome(_ next: Self) -> Bool
}

extension DrawnState {
    package func check(_ next: Self) {
        precondition(mayBecome(next), "\(Self.self): no step goes from \(name) to \(next.name)")
    }

    /// The case's name without the payload, which may be requests.
    private var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}

/// Records that were polled and are in no batch yet. Nothing is polled while there are any.
///
///      ┌──────── clocks agree ──────┐
///      ▼                            │ ┌────┐
///     none ── clocks disagree ──▶ doubted ◀┘ still
///     ▲  └─── suspects in it ───▶ pieces ◀─┐ next piece
///     │                             │ └────┘
///     └───────── last piece ────────┘
///
/// A change of assignment or an abort leads back to none: the source, or the next owner, reads the records again.
enum PendingRound: DrawnState {
    case none
    /// A round that came while the clocks disagree, or while its first record shows whether they do.
    case doubted(PollRound)
    /// The rest of a round with suspects in it: done piece by piece, with nothing else in flight.
    case pieces(ArraySlice<[PolledRecord]>, of: Generation)

    var isNone: Bool { if case .none = self { true } else { false } }

    func mayBecome(_ next: PendingRound) -> Bool {
        switch (self, next) {
        case (_, .none), (.none, _), (.doubted, .doubted): true
        case (.pieces(let now, _), .pieces(let next, _)): next.count < now.count
        case (.doubted, .pieces), (.pieces, .doubted): false
        }
    }
}

/// The commit of the oldest batch.
///
///     none ── handed over ──▶ underWay ── outcome taken ──▶ none
///
/// Nothing takes back what was handed over: the batch stays in flight until the outcome is known, through aborts and
/// lost partitions too. Its changes are applied after a success, and only then.
enum Writing: DrawnState {
    case none
    case underWay(Batch)

    var batch: Batch? { if case .underWay(let batch) = self { batch } else { nil } }

    func mayBecome(_ next: Writing) -> Bool {
        switch (self, next) {
        case (.none, .underWay), (.underWay, .none): true
        default: false
        }
    }
}
