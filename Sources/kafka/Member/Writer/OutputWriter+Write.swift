internal import KafkaPorts
internal import Streams

/// A batch's output: its records, then what makes them count.
///
/// In a transaction the records go first: offsets sent before these have arrived would wait for megabytes on the same
/// connection, and while only records are in flight nothing is in doubt. At least once the ledger is written once the
/// outputs have arrived, with the applied offset last: every request that the ledger knows was answered.
extension OutputWriter {
    /// No single call takes longer, so that the loop's changes count soon.
    private static let sliceMilliseconds: Int64 = 500

    func write(_ batch: OutputBatch, at now: Moment) -> Step {
        do throws(KafkaFault) {
            switch state {
            case .none, .takingOver, .connecting: return takeOver(for: batch, at: now)
            // A copy may have been sent after the last output ended.
            case .ready where hasRepeats: discard()
            case .ready: try begin(batch, at: now)
            case .open(.offsets) where waits(batch.budget, at: now):
                needsPause = true
                return .report(.arrived)
            case .open(let call): try advance(call, batch, at: now)
            case .written: return .done(written(at: now))
            case .failed, .settling, .aborting, .closed: preconditionFailure("an output that failed is aborted")
            }
        } catch {
            guard mayRepeatCall, error.mayBeRepeated else {
                noteCut()
                return failed(error, at: now)
            }
            needsPause = true
        }
        return .again
    }

    /// Whether a failed call may be repeated: at least once, every one but a full queue's and an unfinished flush ends
    /// the output.
    private var mayRepeatCall: Bool {
        if case .open = state { settings.delivery == .transaction } else { false }
    }

    private func begin(_ batch: OutputBatch, at now: Moment) throws(KafkaFault) {
        guard let producer else { preconditionFailure("an output has a producer") }
        output = OpenOutput(batch, at: now)
        producer.records.forgetDeliveries()
        if let transactions = producer.transactions {
            // The library may hang when a transaction is begun after a fatal error (#4420).
            if let fatal = producer.records.fatalFault { throw fatal }
            try transactions.begin()
        } else {
            output?.rest = batch.records.filter { $0.stream != .ledger }[...]
        }
        transaction.begin(deliveries)
        state = .open(.produce)
    }

    private func advance(_ call: Call, _ batch: OutputBatch, at now: Moment) throws(KafkaFault) {
        let left = batch.budget.left(at: now)
        // At least once, one last call still finds out what is wrong.
        guard left > 0 || settings.delivery == .atLeastOnce else {
            let late = KafkaFault.timedOut("the transaction was not committed in time", requiresAbort: true)
            throw producer?.records.explained(late) ?? late
        }
        let limit = Int(min(left, Self.sliceMilliseconds))
        switch call {
        case .produce: try produce(then: .flush, isLast: left <= 0)
        case .ledger:
            // A new owner's ledger records must not be followed by ours.
            try requireAssignment(batch)
            try produce(then: .flushLedger, isLast: left <= 0)
        case .forget: try produce(then: .flushForget, isLast: left <= 0)
        case .flush: if try flush(limit) { try outputsArrived(batch) }
        case .flushLedger: if try flush(limit) { try ledgerArrived(batch) }
        case .flushForget: if try flush(limit) { throw cutFault() }
        case .offsets: try sendOffsets(batch, at: now)
        case .end: try end(limit)
        }
    }

    // MARK: - Records

    private func produce(then next: Call, isLast: Bool) throws(KafkaFault) {
        guard let producer, let rest = output?.rest else { preconditionFailure("an open output has a producer") }
        let queued: Int
        do throws(KafkaFault) { queued = try producer.records.produce(rest) } catch {
            throw settings.delivery == .transaction ? transaction.spoil(error) : error
        }
        output?.rest = rest.dropFirst(queued)
        if queued >= rest.count { return state = .open(next) }
        needsPause = true
        if isLast { throw KafkaFault(.queueFull, "the queue is full: \(producer.records.outstanding) records wait") }
    }

    /// Returns whether every record has arrived.
    private func flush(_ limit: Int) throws(KafkaFault) -> Bool {
        guard let producer = producer?.records else { preconditionFailure("an open output has a producer") }
        let hasArrived: Bool
        do throws(KafkaFault) { hasArrived = try producer.flush(limit: limit) } catch {
            throw settings.delivery == .transaction ? transaction.spoil(error) : error
        }
        if let lost = transaction.lostRecord(deliveries) { throw transaction.spoil(lost) }
        if !hasArrived, limit <= 0 {
            throw producer.explained(.timedOut("records not acknowledged in time: \(producer.outstanding)"))
        }
        return hasArrived
    }

    private func outputsArrived(_ batch: OutputBatch) throws(KafkaFault) {
        switch settings.delivery {
        case .transaction:
            if isCut() { throw cutFault() }
            try requireAssignment(batch)
            state = .open(.offsets)
        case .atLeastOnce:
            output?.ledger = batch.records.ledgerParts
            try writeLedger(batch)
        }
    }

    private func waits(_ budget: CallBudget, at now: Moment) -> Bool {
        budget.isHeldBack && !budget.isLost && budget.left(at: now) > 0
    }

    private func requireAssignment(_ batch: OutputBatch) throws(KafkaFault) {
        if batch.budget.isLost { throw .stale("the assignment was lost") }
    }

    // MARK: - The ledger

    /// Whether a record has arrived before the end that is known of its ledger.
    private func isCut() -> Bool {
        noteCut()
        return output?.cutLedgers.isEmpty == false
    }

    /// An output may fail for another reason on a ledger that was cut: what it leaves there, even what arrives while
    /// its abort waits for it, would fill the gap for the next ones.
    func noteCut() {
        guard let output else { return }
        for (partition, offset) in deliveries.firstLedgerOffsets
        where offset < max(output.knownLedgerEnds[partition] ?? 0, ownLedgerEnds[partition] ?? 0) {
            self.output?.cutLedgers.insert(partition)
        }
    }

    /// Verdicts based on the lost records must not be committed.
    private func cutFault() -> KafkaFault {
        let partition = output?.cutLedgers.min() ?? 0
        return .stale(
            "the ledger topic's partition \(partition) ends before the offset already read: truncated or recreated"
        )
    }

    /// The next part of the ledger's records: each follows once the one before it has arrived.
    private func writeLedger(_ batch: OutputBatch) throws(KafkaFault) {
        guard let part = output?.ledger.popFirst() else {
            ownLedgerEnds.merge(deliveries.lastLedgerOffsets.mapValues { $0 + 1 }, uniquingKeysWith: max)
            return state = .written
        }
        // A new owner's records must not be followed by ours.
        try requireAssignment(batch)
        output?.rest = part[...]
        state = .open(.ledger)
    }

    private func ledgerArrived(_ batch: OutputBatch) throws(KafkaFault) {
        guard isCut() else { return try writeLedger(batch) }
        // The marks that were just written would make a ledger look whole that has lost its facts.
        let cut = output?.cutLedgers.sorted() ?? []
        output?.rest = cut.map(OutboundRecord.forgottenMark(of:))[...]
        state = .open(.forget)
    }

    // MARK: - The end

    /// One call with all the time left: a call cut into slices leaves a request behind with each slice.
    private func sendOffsets(_ batch: OutputBatch, at now: Moment) throws(KafkaFault) {
        guard let producer = producer?.transactions else { preconditionFailure("a transaction has a producer") }
        try requireAssignment(batch)
        if !batch.offsets.isEmpty {
            let offsets = TransactionGuard.Offsets(topic: "the requests", offsets: batch.offsets)
            transaction.willSend(offsets)
            do throws(KafkaFault) {
                try producer.sendOffsets(batch.offsets, batch.token, batch.budget)
            } catch {
                transaction.didSend(offsets, error)
                throw error.requiresAbort ? transaction.spoil(error) : error
            }
            transaction.didSend(offsets, nil)
        }
        state = .open(.end)
    }

    /// Commits the transaction: from here on a fault leaves it open whether the output is durable.
    private func end(_ limit: Int) throws(KafkaFault) {
        guard let producer = producer?.transactions else { preconditionFailure("a transaction has a producer") }
        if let obstacle = commitObstacle(producer) { throw obstacle }
        do throws(KafkaFault) { try producer.commit(limit: limit) } catch {
            throw error.requiresAbort ? transaction.spoil(error) : error
        }
        state = .written
    }

    private func commitObstacle(_ producer: any TransactionProducer) -> KafkaFault? {
        transaction.commitObstacle(deliveries, fatal: producer.fatalFault)
    }

    private func written(at now: Moment) -> WriterOutcome {
        let isAtomic = settings.delivery == .transaction
        let outcome = WriterOutcome.written(
            ledgerEnds: isAtomic ? deliveries.lastLedgerOffsets.mapValues { $0 + 1 } : [:],
            timeShare: output?.timeShare(at: now) ?? 0,
            offsetsAreDue: !isAtomic || settings.commitsOffsetsAside,
            ledgerTime: deliveries.ledgerTime
        )
        if hasRepeats { discard() } else { state = .ready }
        return outcome
    }
}
