#if DEBUG
    /// Bugs that the simulation must find: planted by its tests, not in release builds.
    package enum Sabotage: Sendable, CaseIterable {
        /// A batch's changes stay although its unit was aborted.
        case overlayKeptAfterAbort
        /// Positions are committed before the outputs are appended.
        case commitBeforeAppend
        /// A unit is committed although the log did not take all of it.
        case appendFaultIgnored
        case duplicateCheckSkipped
        /// Positions are committed under whatever generation counts at that moment.
        case freshGeneration
        /// A batch is admitted while the one before it has not committed.
        case earlyAdmission
    }

    extension Generation {
        /// Stands for "whatever counts now", which no honest commit says.
        package static let fresh = Generation(-1)
    }
#endif
