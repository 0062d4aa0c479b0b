internal import Log

extension BatchLoop {
    /// Drops the batches in flight: the log rewinds and delivers their records again.
    func kill(_ cause: AbortCause) {
        #if DEBUG
            if options.sabotage == .overlayKeptAfterAbort, let oldest = inFlight.first { apply(oldest.overlay) }
        #endif
        drop(cause)
        if !phase.isAbortDue { phase = phase == .stopping ? .abandoned : .aborting }
    }

    /// Drops what is in flight, but not what the unit is writing: that has an outcome, which counts.
    func drop(_ cause: AbortCause) {
        inFlight = writing.batch.map { [$0] } ?? []
        leftover = .none
        // The records up to the input's end are read again; the log reports the end again when it gets there.
        if phase == .ended { phase = .reading }
        tally.aborts += 1
        tally.abortCauses[cause, default: 0] += 1
    }

    /// - Returns: false while the log is at it.
    func abort() throws -> Bool {
        precondition(inFlight.isEmpty, "an abort leaves nothing in flight")
        guard try log.unit.abort() else { return false }
        phase = .reading
        return true
    }
}
