internal import AppAttest
internal import AppCheck
package import Streams
internal import Threads

extension BatchLoop {
    /// The records of a batch that a backlog filled.
    private static let backlog = 1024

    func decode(_ polled: [PolledRecord], of batch: Batch) {
        let (stage, now) = (stages.decode, batch.now ?? options.agesJudgedAt)
        let (found, shortened) = (cut.bisection.poison, cut.bisection.shortened)
        let poison = Poison(refused: found, shortened: shortened, crashing: cut.suspects.convicted)
        hand(batch, .decoding, count: polled.count, grain: 64, priority: .high) { range, lane -> [DecodedGrain] in
            [stage.decode(polled[range], now: now, poison: poison, work: lane.work)]
        } then: { batch, grains in
            batch.add(grains)
        }
    }

    /// Resolve on the loop, then Verify on the lanes.
    private func verify(_ batch: Batch, earlier: [CandidateKeys]) {
        let keys = during(.resolving, of: batch) {
            ResolveStage.resolve(
                batch.records,
                ledger: { [settings] in self.ledgers[settings.ledgerPartition($0)] },
                candidates: &batch.candidates,
                earlier: earlier,
                keysEnd: settings.keys.expire,
                work: work,
                sealed: { [settings] in
                    settings.mayRestoreKeys ? try? settings.exchange.keys.sealing.open($0).get().publicKey : nil
                }
            )
        }
        let (stage, records) = (stages.verify, batch.records)
        assert(keys.count == records.count, "each record has its key, or none")
        assert(batch.overlay.partitions.isEmpty, "keys are found before anything is admitted")
        batch.beginVerifying(engineIsStopped: lanes.isEngineStopped)
        // Signatures are verified in groups of a grain. A backlog fills larger ones.
        let grain = records.count < Self.backlog ? 32 : 64
        hand(batch, .verifying, count: records.count, grain: grain, priority: .normal) { range, lane in
            [stage.verify(records[range], keys: keys[range], on: lane)]
        } then: { batch, grains in
            batch.add(grains)
        }
    }

    /// Admit on the loop, then encoding on the lanes: the outputs first, then the records for the ledger topic.
    private func admit(_ batch: Batch) {
        precondition(batch.overlay.partitions.isEmpty, "a batch is admitted once")
        let (records, findings) = batch.takeJudged()
        let verdicts = during(.admitting, of: batch) {
            stages.admit.admit(
                records,
                findings: findings,
                overlay: &batch.overlay,
                now: presentTime,
                mintTime: mintTime,
                unsigned: batch.unsigned,
                work: work,
                observer: options.observer,
                showsPassed: options.showsPassedChecks,
                ledger: { self.ledgers[$0] }
            )
        }
        assert(verdicts.count == records.count, "each record has its verdict")
        batch.tally.add(verdicts)
        batch.tally.endedKeys = batch.overlay.ended
        batch.positions = PartitionPosition.after(records)
        mark(batch.positions, after: records, in: &batch.overlay)
        let changes = streams.hasLedgers ? batch.overlay.changes() : []
        if options.snapshots != nil {
            batch.ledgerRecords = Dictionary(changes.map { ($0.partition, 1) }, uniquingKeysWith: +)
        }
        let (stage, packer) = (stages.encode, streams.packer)
        batch.enter(.encoding)
        let count = records.count + changes.count
        let waits = settings.exchange.signsElsewhere && verdicts.contains { $0.order != nil }
        hand(batch, .encoding, count: count, grain: 64, priority: waits ? .waiting : .high) { range, lane in
            let (outputs, counts, missing) = stage.encode(
                range,
                records,
                findings,
                verdicts,
                changes: changes,
                work: lane.work
            )
            guard missing.isEmpty else { return [EncodedGrain(unsigned: (missing, records, findings))] }
            guard let packer else { return [EncodedGrain(records: outputs).with(counts)] }
            return [EncodedGrain(packed: packer(consume outputs)).with(counts)]
        } then: { batch, outputs in
            batch.add(outputs)
            if batch.stage == .encoded { batch.add(outputs.map(\.counts)) }
        }
    }

    /// - Returns: false while the transaction is being written.
    private func commit(_ batch: Batch) throws -> Bool {
        precondition(batch === inFlight.first && batch.stage == .encoded, "the oldest batch is committed, and whole")
        if writing.batch == nil {
            batch.commitBegan = uptime()
            try write(batch)
            writing = .underWay(batch)
        }
        guard streams.transaction.hasOutcome else { return false }
        assert(isWritingOldest, "an outcome is the oldest batch's")
        writing = .none
        try streams.transaction.takeOutcome()
        noteCommitted(batch)
        return true
    }

    private func write(_ batch: Batch) throws {
        switch streams.output {
        case .records(let transaction):
            try transaction.write(batch.outputs.map(\.records), batch.positions, of: batch.generation)
        case .packed(let transaction):
            try transaction.write(batch.outputs.map(\.packed), batch.positions, of: batch.generation)
        }
    }

    /// Work of the loop's own thread.
    private func during<Result>(_ stage: WorkStage, of batch: Batch, _ body: () -> Result) -> Result {
        work.during(stage, alone: batch.isAlone) { options.meter.during(stage, body) }
    }

    private func noteCommitted(_ batch: Batch) {
        batch.enter(.committed)
        noteAppended(batch)
        apply(batch.overlay)
        copyLedger(after: batch)
        batch.overlay.acts.forEach(notice)
        // Applied once: what is left of the batch changes nothing any more.
        batch.overlay = LedgerOverlay()
        noteDecided(batch)
        tally.add(batch.tally)
        count(batch, stages.places)
        cut.bisection.committed(batch.positions)
        let passed = cut.suspects.passed(batch.positions)
        if !passed.isEmpty { options.passed?(passed) }
        cut.pace.committed(batch.tally.requests, timeShare: streams.transaction.timeShare)
        if let now = batch.now {
            let failed = batch.tally.deadLetters[DeadLetterReason.internal.rawValue] ?? 0
            breaker.add(records: batch.tally.requests, internal: failed, at: now)
        }
    }

    func apply(_ overlay: LedgerOverlay) {
        for partition in overlay.partitions {
            ledgers[partition, default: PartitionLedger()].apply(overlay[partition])
        }
    }

    private func hand<Output: Sendable>(
        _ batch: Batch,
        _ work: WorkStage,
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        then finish: @escaping @Sendable (Batch, [Output]) -> Void
    ) {
        let (number, alone, meter) = (batch.number, batch.isAlone, options.meter)
        lanes.run(count: count, grain: grain, priority: priority) { range, lane in
            lane.work.during(work, alone: alone) { meter.during(work) { body(range, lane) } }
        } completion: { outputs in
            self.post {
                self.owner.check()
                // A batch dropped by an abort is no longer in flight.
                guard let batch = self.inFlight.first(where: { $0.number == number }) else { return }
                finish(batch, outputs)
            }
        }
    }

    /// Moves every batch as far as possible. Only the oldest is admitted, encoded and committed.
    func advance() throws -> Bool {
        var moved = startVerifying()
        while let oldest = inFlight.first {
            // Not before its turn: which fault ends the work must not depend on the speed of a lane.
            if let fault = oldest.fault { throw fault }
            // Verified by an engine that another lane, or a later grain, found wrong since: OpenSSL judges all of it.
            if oldest.isInDoubt(engineIsStopped: lanes.isEngineStopped) {
                verify(oldest, earlier: [])
                return true
            }
            if oldest.stage == .verified {
                admit(oldest)
                moved = true
            }
            guard oldest.stage == .encoded else { break }
            guard try settle(oldest) else { break }
            moved = true
        }
        return moved
    }

    /// Commits the oldest batch, or takes the outcome of its commit.
    ///
    /// - Returns: whether it has left.
    func settle(_ oldest: Batch) throws -> Bool {
        do { guard try commit(oldest) else { return false } } catch let fault as any SourceFault where !fault.endsLoop {
            noteDecided(oldest)
            if streams.transaction.isAtomic { doubted.append((oldest, stages.places)) }
            // Any commit failure leaves the transaction unfinished, so the batch is processed again.
            let limit = TopicLimitFault(fault, oldest)
            let canGoOn =
                !fault.isRecordFault
                || cut.bisection.failed(oldest.positions, count: oldest.tally.requests, isSetting: limit != nil)
            if let share = fault.acknowledgedShare { cut.pace.ranOut(oldest.tally.requests, acknowledged: share) }
            kill(fault.abortCause)
            assert(inFlight.isEmpty && phase.isAbortDue, "a batch whose commit failed is processed again")
            guard canGoOn else { throw RefusedRecordFault(fault: fault, positions: oldest.positions) }
            throw limit ?? fault
        }
        precondition(oldest.stage == .committed && writing.batch == nil, "a batch leaves once its outcome is known")
        inFlight.removeFirst()
        return true
    }

    /// Starts batches in order: a later batch's assertions may depend on the attestations and artifacts of every batch
    /// before it.
    private func startVerifying() -> Bool {
        var moved = false
        var earlier: [CandidateKeys] = []
        for batch in inFlight {
            if batch.stage == .decoding { break }
            if batch.stage == .decoded, batch.fault == nil, batch.keepsNew(options.isNew) {
                verify(batch, earlier: earlier)
                moved = true
            }
            earlier.insert(batch.candidates, at: 0)
        }
        return moved
    }
}

/// Even the shortest dead letter of a record was refused.
package struct RefusedRecordFault: Error, CustomStringConvertible {
    package let fault: any SourceFault
    package let positions: [PartitionPosition]

    package var description: String {
        "the dead letter of the request at \(positions.first.place) was refused: \(fault)"
    }
}

/// A topic is set to take less than an answer to one valid request has: the worker waits until an operator has raised it.
package struct TopicLimitFault: SourceFault, Equatable, CustomStringConvertible {
    let topic: String
    let positions: [PartitionPosition]

    package let endsLoop = false
    package let requiresAbort = true

    /// - Returns: nil for another fault, for a batch with more than one request, and for a dead letter, which is shortened.
    init?(_ fault: any SourceFault, _ batch: Batch) {
        guard let topic = fault.limitingTopic, batch.tally.requests <= 1, batch.tally.deadLetters.isEmpty else {
            return nil
        }
        (self.topic, positions) = (topic, batch.positions)
    }

    package var description: String {
        "topic \(topic) refuses what belongs to the request at \(positions.first.place) for its size: raise "
            + "max.message.bytes of the topic; the worker waits, and nothing is lost"
    }
}

extension PartitionPosition? {
    fileprivate var place: String { map { "partition \($0.partition), offset \($0.offset - 1)" } ?? "nowhere" }
}

extension OutboundRecord {
    /// A record of the ledger topic.
    package init(_ change: LedgerChange, partition: Int32) {
        let (key, value) = LedgerCodec.encode(change)
        self.init(
            stream: .ledger,
            partition: partition,
            sourceOffset: -1,
            sourceTimestamp: -1,
            key: key,
            value: value
        )
    }
}
