internal import Streams

extension BatchLoop {
    /// Drops the batches in flight: the source rewinds and delivers their records again.
    func kill(_ cause: AbortCause) {
        drop(cause)
        assert(phase != .ended && pendingRound.isNone, "what was polled and not committed comes again")
        if !phase.isAbortDue { phase = phase == .stopping ? .abandoned : .aborting }
        assert(phase.isAbortDue)
    }

    /// Drops what is in flight, but not what is being written: that has an outcome, which counts.
    func drop(_ cause: AbortCause) {
        inFlight = writing.batch.map { [$0] } ?? []
        pendingRound = .none
        // The records up to the input's end are read again; the source reports the end again when it gets there.
        if phase == .ended { phase = .reading }
        assert(inFlight.count <= 1 && isWritingOldest, "nothing but what is being written stays in flight")
        tally.aborts += 1
        tally.abortCauses[cause, default: 0] += 1
    }

    /// - Returns: false while the abort is under way.
    func abort() throws -> Bool {
        precondition(inFlight.isEmpty && writing.batch == nil, "an abort leaves nothing in flight")
        assert(phase == .aborting, "only a transaction that failed is aborted")
        guard try streams.transaction.abort() else { return false }
        phase = .reading
        return true
    }
}
