/// Whether the loop takes input, and what is left to do if not.
///
///     ended ◀─ end of input ── reading ◀── log aborted ── aborting
///      │ └── batches dropped ──▶ │ └─────── fault ──────────▶ │
///      │ stop                    │ stop                       │ stop
///      └──────▶ stopping ◀───────┘                            │
///                  └──────────── fault ──────▶ abandoned ◀────┘
enum LoopPhase: DrawnState, CaseIterable {
    case reading
    /// All polled records are finished; nothing more comes.
    case ended
    /// The log must drop its unit before anything else; nothing is in flight.
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
