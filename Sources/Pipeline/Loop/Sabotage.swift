#if DEBUG
    /// Bugs that the simulation must find: its tests plant them; not in release builds.
    package enum Sabotage: Sendable, CaseIterable {
        /// A batch's changes stay although its unit was aborted.
        case overlayKeptAfterAbort
        /// Positions are committed before the outputs are appended.
        case commitBeforeAppend
        /// A unit is committed although the log did not take all of it.
        case appendFaultIgnored
        case duplicateCheckSkipped
        /// Positions are committed under the generation of that moment.
        case freshGeneration
        /// A batch is admitted while the one before it has not committed.
        case earlyAdmission
    }

    extension Generation {
        /// Stands for "the present generation", which no correct commit uses.
        package static let fresh = Generation(-1)
    }
#endif
