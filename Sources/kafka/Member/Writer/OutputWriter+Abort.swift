internal import KafkaPorts

/// The end of an output that has failed, and the end of the writer.
extension OutputWriter {
    func abort(at now: Moment) -> Step {
        noteCut()
        switch state {
        // The producer that an output might have is gone.
        case .none, .takingOver, .connecting: return ended(isUnknown: true)
        case .ready, .failed: return beginAbort(at: now)
        case .settling(let since, let idle): return settle(since, idle, at: now)
        case .aborting(let since): return abortTransaction(since, at: now)
        case .open, .written, .closed: preconditionFailure("an output ends before it is aborted")
        }
    }

    private func beginAbort(at now: Moment) -> Step {
        guard settings.delivery == .transaction else {
            state = .settling(since: now, idle: 0)
            return settle(now, 0, at: now)
        }
        switch state {
        case _ where producer?.records.fatalFault != nil: return givenUp()
        case .ready: return ended(isUnknown: false)
        case .failed(isOpen: false, isInDoubt: false):
            state = .ready
            return ended(isUnknown: false)
        case .failed(isOpen: true, isInDoubt: false): break
        default: return givenUp()
        }
        state = .settling(since: now, idle: 0)
        return settle(now, 0, at: now)
    }

    // MARK: - Settling

    private static let mostIdle = 20
    private static let settleMilliseconds = 50
    private static let abortSliceMilliseconds: Int64 = 250

    /// Waits for records and requests in flight, as long as any of them arrive.
    private func settle(_ since: Moment, _ idle: Int, at now: Moment) -> Step {
        guard let producer = producer?.transactions else { return settleOutputs(since, at: now) }
        guard producer.fatalFault == nil else { return givenUp() }
        switch transaction.settlement(deliveries, outstanding: producer.outstanding, producer.unanswered) {
        case .settled:
            state = .aborting(since: since)
            return abortTransaction(since, at: now)
        case .underWay where idle < Self.mostIdle && now - since < settings.abortMilliseconds / 2: break
        case .underWay, .never: return givenUp()
        }
        let before = producer.outstanding
        if before > 0 {
            // Failed records do not matter here.
            _ = try? producer.flush(limit: Self.settleMilliseconds)
        } else {
            producer.serve(limit: Self.settleMilliseconds)
        }
        state = .settling(since: since, idle: producer.outstanding < before ? 0 : idle + 1)
        return .again
    }

    /// Gives records in flight a moment to finish in order, at least once; a producer that cannot finish them is
    /// replaced.
    ///
    /// How much of the output reached the ledger topic is not known here, so the ledger is read again.
    private func settleOutputs(_ since: Moment, at now: Moment) -> Step {
        if flushOutputs(since, at: now) { return .again }
        guard let producer = producer?.records, producer.outstanding == 0, producer.fatalFault == nil else {
            return givenUp()
        }
        state = .ready
        return ended(isUnknown: true)
    }

    /// Returns false once flushing is useless.
    private func flushOutputs(_ since: Moment, at now: Moment) -> Bool {
        let left = settings.abortMilliseconds - (now - since)
        guard let producer = producer?.records, producer.outstanding > 0, left > 0 else { return false }
        // Ignore delivery failures: this output is being given up.
        _ = try? producer.flush(limit: Int(min(left, Self.abortSliceMilliseconds)))
        return true
    }

    // MARK: - Aborting

    private func abortTransaction(_ since: Moment, at now: Moment) -> Step {
        let left = settings.abortMilliseconds - (now - since)
        guard let producer = producer?.transactions, left > 0 else { return givenUp() }
        do throws(KafkaFault) {
            try producer.abort(limit: Int(min(left, Self.abortSliceMilliseconds)))
        } catch {
            guard error.mayBeRepeated else { return givenUp() }
            needsPause = true
            return .again
        }
        if hasRepeats { discard() } else { state = .ready }
        return ended(isUnknown: false)
    }

    /// Gives the output up: it could not be aborted in order, or only the broker knows what became of it. The id's next
    /// owner ends it.
    private func givenUp() -> Step {
        discard()
        return ended(isUnknown: true)
    }

    private func ended(isUnknown: Bool) -> Step {
        let cut = forgetCutEnds()
        return .done(.aborted(isUnknown: isUnknown || !cut.isEmpty, cutLedgers: cut))
    }

    // MARK: - Closing

    /// Records of a committed output have been flushed; those of an idempotent producer may belong to a failed one, and
    /// are still wanted.
    func close(at now: Moment) -> Step {
        if settings.delivery == .atLeastOnce, flushOutputs(startedAt, at: now) { return .again }
        releaseProducer()
        state = .closed
        return .done(.closed)
    }
}
