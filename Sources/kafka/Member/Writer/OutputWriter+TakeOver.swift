internal import KafkaPorts

/// Taking over the transactional id: a predecessor's open transaction is aborted, its committed ones stand.
extension OutputWriter {
    private static let sliceMilliseconds: Int64 = 250

    func takeOver(at now: Moment) -> Step {
        do throws(KafkaFault) {
            guard try advanceTakeOver(Self.sliceMilliseconds) else { return .again }
            producer?.records.know(partitionCounts)
            return .done(.tookOver)
        } catch {
            guard error.mayBeRepeated, error.isTimeout else { return .done(.failed(error, cutLedgers: [])) }
            // Not reported before it takes long.
            guard now - startedAt >= settings.takeOverMilliseconds else { return .again }
            startedAt = now
            return .report(.stillTakingOver(error))
        }
    }

    /// Takes over for an output that has no producer. A fault that may pass ends the output once its time is up, and
    /// the next take-over goes on where this one stopped.
    func takeOver(for batch: OutputBatch, at now: Moment) -> Step {
        let left = min(settings.takeOverMilliseconds - (now - startedAt), batch.budget.left(at: now))
        if left <= 0, case .takingOver(let fault?) = state {
            return .done(.failed(fault.with(isFatal: false, requiresAbort: true), cutLedgers: []))
        }
        do throws(KafkaFault) { _ = try advanceTakeOver(min(left, Self.sliceMilliseconds)) } catch {
            guard error.mayBeRepeated else { return .done(.failed(error, cutLedgers: [])) }
            // A client that could not be made waits for nothing: the pause before the next try is the member's.
            guard state != .none else {
                return .done(.failed(error.with(isFatal: false, requiresAbort: true), cutLedgers: []))
            }
        }
        return .again
    }

    /// Makes one call of the take-over. Returns whether an output may begin.
    private func advanceTakeOver(_ limit: Int64) throws(KafkaFault) -> Bool {
        // Nothing is open in these states.
        if state == .ready || state.isTakingOver, producer?.records.isOutdated == true {
            if let old = producer?.transactions { excuse(old) }
            discard()
        }
        switch state {
        case .none: try makeNext()
        case .takingOver: try initTransactions(Int(max(1, limit)))
        case .connecting:
            producer?.records.connect(limit: Int(Self.sliceMilliseconds))
            state = .ready
        default: break
        }
        return switch state {
        case .none, .takingOver, .connecting: false
        default: true
        }
    }

    private func makeNext() throws(KafkaFault) {
        let next = try makeProducer()
        producer = next
        if next.transactions != nil { return state = .takingOver(nil) }
        next.records.know(partitionCounts)
        state = .ready
    }

    private func initTransactions(_ limit: Int) throws(KafkaFault) {
        guard let producer = producer?.transactions else { preconditionFailure("a producer takes over") }
        do throws(KafkaFault) { try producer.initTransactions(limit: limit) } catch {
            if error.mayBeRepeated {
                (state, needsPause) = (.takingOver(error), true)
                throw error
            }
            excuse(producer)
            discard()
            throw judgedTakeOver(error)
        }
        excuse(producer)
        producer.know(partitionCounts)
        // Before the first batch, which would wait for the connections; a later producer must not keep the member.
        let connects = !wasConnected && !partitionCounts.isEmpty
        if connects { wasConnected = true }
        state = connects ? .connecting : .ready
    }

    /// A request for the id that got no answer may arrive late and fence whichever process has the id then.
    private func excuse(_ producer: any TransactionProducer) { fences.excuse(producer.unanswered.inits) }

    /// Being fenced passes, and so does a login between two tokens; every other permanent fault lies in the configuration
    /// and would come again on every try.
    private func judgedTakeOver(_ fault: KafkaFault) -> KafkaFault {
        if fault.isFenced || fault.mayHeal { return fault.with(isFatal: false, requiresAbort: true) }
        guard fault.isTransactionTimeout else {
            return settings.explain(fault).with(isFatal: true, requiresAbort: false)
        }
        return fault.with(
            message:
                "\(fault.message): transaction.timeout.ms in kafka.properties is above the broker's "
                + "transaction.max.timeout.ms; lower it"
        )
        .with(isFatal: true, requiresAbort: false)
    }
}
