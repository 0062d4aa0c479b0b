#if DEBUG
    /// Bugs inside the loop that the simulation must find: its tests plant them; not in release builds.
    package enum Sabotage: Sendable, CaseIterable {
        /// A batch's changes stay although its unit was aborted.
        case overlayKeptAfterAbort
        case duplicateCheckSkipped
        /// A batch is admitted while the one before it has not committed.
        case earlyAdmission
        /// A batch's changes count while its unit is still being written.
        case appliedBeforeCommit
        /// Records still read of a started partition's ledger count, where the member reads it.
        case ledgerReadOn
        /// A restored ledger has the last counter of a key, even where a record was delivered late.
        case lowerCounterKept
    }
#endif
