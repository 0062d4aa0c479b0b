internal import KafkaPorts
internal import Pipeline

extension OutputWriter {
    /// The calls for an output, in their order. In a transaction: produce, flush, offsets, end. At least once: produce
    /// and flush the outputs, then each part of the ledger's records, and marks that forget where the ledger was cut.
    enum Call: Equatable, CaseIterable {
        case produce, flush
        case ledger, flushLedger, forget, flushForget
        case offsets, end

        func mayBecome(_ next: Call) -> Bool {
            switch (self, next) {
            case (.produce, .flush), (.flush, .offsets), (.offsets, .end): true
            case (.flush, .ledger), (.ledger, .flushLedger), (.flushLedger, .ledger): true
            case (.flushLedger, .forget), (.forget, .flushForget): true
            default: false
            }
        }
    }

    /// ```
    /// none ─▶ takingOver ─▶ (connecting) ─▶ ready ─▶ open ─▶ written ─▶ ready, or none after a repeat
    ///   ▲          │                         │ ▲       └─ fault ─▶ failed ─▶ settling ─▶ aborting ─▶ ready
    ///   │          └─ fenced, permanent ─▶ none└─ nothing open ──────┤           │            │
    ///   └── in doubt, fatal, not settled, abort failed, a repeat ────┴───────────┴────────────┘
    /// ```
    ///
    /// An idempotent producer is ready once it is made, and has nothing to abort: from settling it becomes ready, or is
    /// discarded.
    enum State: DrawnState, Equatable {
        /// There is no producer.
        case none
        /// The transactional id is being taken over; with the fault of the last try.
        case takingOver(KafkaFault?)
        /// The first producer opens its connections, for which the first batch would wait.
        case connecting
        /// No transaction is open.
        case ready
        case open(Call)
        /// The output is durable; its outcome is due.
        case written
        /// `isOpen` = a transaction is open. `isInDoubt` = only the broker knows the output's outcome.
        case failed(isOpen: Bool, isInDoubt: Bool)
        /// Records and requests get time to arrive. `idle` = steps in a row in which none did.
        case settling(since: Moment, idle: Int)
        /// `since` the settling began.
        case aborting(since: Moment)
        case closed

        var isTakingOver: Bool { if case .takingOver = self { true } else { false } }

        func mayBecome(_ next: State) -> Bool {
            switch (self, next) {
            case (.closed, _): false
            case (.open(let call), .open(let following)): call.mayBecome(following)
            case (.none, .takingOver), (.none, .ready), (.takingOver, .takingOver), (.takingOver, .connecting): true
            case (.takingOver, .ready), (.connecting, .ready), (.ready, .ready): true
            case (.ready, .open), (.ready, .failed), (.ready, .settling): true
            case (.open, .written), (.open, .failed), (.written, .ready), (.written, .none): true
            case (.failed, .ready), (.failed, .settling), (.failed, .aborting): true
            case (.settling, .settling), (.settling, .aborting), (.settling, .ready), (.aborting, .ready): true
            case (.takingOver, .none), (.ready, .none), (.failed, .none), (.settling, .none), (.aborting, .none): true
            case (.none, .closed), (.takingOver, .closed), (.ready, .closed), (.failed, .closed): true
            default: false
            }
        }
    }
}
