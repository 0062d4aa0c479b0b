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
    }
#endif
