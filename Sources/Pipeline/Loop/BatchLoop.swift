package import AppAttest
internal import AppCheck

/// The loop: polls batches, sends them through the lanes, admits and commits them one after the other.
///
/// It owns ledgers and log and is confined to one thread (the worker's serial queue, or the simulation's). Lanes hand
/// their results back through `post`. It never waits for a lane: ``tick()`` does what can be done now and returns.
package final class BatchLoop: @unchecked Sendable {
    package struct Options: Sendable {
        package var batch = BatchLimits()
        /// Batches between poll and commit at most; two keep the lanes busy while one commits, a third covers encoding.
        package var batchesInFlight = 3
        package init() {}
    }

    /// What ``tick()`` found to do.
    package enum Progress: Sendable, Equatable {
        /// Something moved; call again at once.
        case worked
        /// Batches are with the lanes, or nothing came: call again when a result was posted, or after a while.
        case waiting
        /// The log failed in a way that may pass: call again after a pause.
        case backOff
        /// The input has ended and everything is committed.
        case finished
    }

    private let log: any RecordLog
    private let settings: PipelineSettings
    private let lanes: any LaneRunner
    private let options: Options
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let wallClock: @Sendable () -> EvaluationTime?
    private let notice: @Sendable (any LogFault) -> Void

    private let decodeStage: DecodeStage
    private let verifyStage: VerifyStage
    private let admitStage: AdmitStage
    private let emitStage: EmitStage

    private var inFlight: [Batch] = []
    private var nextNumber = 0
    private var ended = false
    private var stopping = false
    private var pendingChange: AssignmentChange?
    /// Bumped by an abort: results of older batches are dropped when they come back.
    private var epoch = 0
    /// An abort is due, or was tried and could not reach the log.
    private var needsAbort = false

    package private(set) var ledgers: [Int32: KeyLedger] = [:]
    package private(set) var tally = LoopTally()

    /// - Parameters:
    ///   - ledgers: what is known at the start, by ledger partition.
    ///   - post: brings a block onto the loop's thread.
    ///   - wallClock: the time in live mode; nil in replay, where only the records' times count.
    ///   - notice: told of every fault that the loop rides out.
    package init(
        log: any RecordLog,
        settings: PipelineSettings,
        lanes: any LaneRunner,
        options: Options = Options(),
        ledgers: [Int32: KeyLedger] = [:],
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        wallClock: @escaping @Sendable () -> EvaluationTime?,
        notice: @escaping @Sendable (any LogFault) -> Void = { _ in }
    ) {
        self.log = log
        self.settings = settings
        self.lanes = lanes
        self.options = options
        self.ledgers = ledgers
        self.post = post
        self.wallClock = wallClock
        self.notice = notice
        decodeStage = DecodeStage(settings: settings)
        verifyStage = VerifyStage(settings: settings)
        admitStage = AdmitStage(settings: settings)
        emitStage = EmitStage(maxRecordBytes: settings.maxRecordBytes)
    }

    /// Whether nothing is in flight.
    package var isIdle: Bool { inFlight.isEmpty }

    /// Takes no more input; what is in flight is finished and committed.
    package func stop() { stopping = true }

    /// Does what can be done without waiting for a lane.
    ///
    /// - Parameter waitMilliseconds: how long a poll may wait where there is nothing else to do.
    /// - Throws: a fault of the world that the log could not ride out, or of a capture that cannot be read.
    package func tick(waitMilliseconds: Int) throws -> Progress {
        do {
            // What was under way is dead and uncommitted: whoever comes next does it again.
            if needsAbort, stopping { return .finished }
            if needsAbort { try abort() }
            return try move(waitMilliseconds: waitMilliseconds)
        } catch let fault as any LogFault where !fault.endsLoop {
            notice(fault)
            if fault.requiresAbort, !needsAbort { kill() }
            return .backOff
        }
    }

    private func move(waitMilliseconds: Int) throws -> Progress {
        var moved = try advance()
        if inFlight.isEmpty, let change = pendingChange {
            try finish(change)
            moved = true
        }
        if inFlight.isEmpty, pendingChange == nil, ended || stopping { return .finished }
        if pendingChange == nil, !ended, !stopping, inFlight.count < options.batchesInFlight {
            let polled = try poll(waitMilliseconds: inFlight.isEmpty && !moved ? waitMilliseconds : 0)
            moved = polled || moved
        }
        return moved ? .worked : .waiting
    }

    private func poll(waitMilliseconds: Int) throws -> Bool {
        let round = try log.poll(options.batch, waitMilliseconds: waitMilliseconds)
        if round.ended { ended = true }
        if let change = round.change { begin(change) }
        guard !round.records.isEmpty else { return round.change != nil || round.ended }
        start(round.records)
        return true
    }
}

// MARK: - Stages

extension BatchLoop {
    private func start(_ polled: [PolledRecord]) {
        let batch = Batch(number: nextNumber, now: wallClock())
        nextNumber += 1
        inFlight.append(batch)
        let (stage, now) = (decodeStage, batch.now)
        hand(batch, count: polled.count, grain: 64, priority: .high) { range, _ -> [DecodedGrain] in
            [stage.decode(polled[range], now: now)]
        } then: { batch, grains in
            batch.add(grains)
        }
    }

    /// Resolve on the loop, then Verify on the lanes.
    private func verify(_ batch: Batch, earlier: [CandidateKeys]) {
        let keys = ResolveStage.resolve(
            batch.records,
            ledger: { [settings] in self.ledgers[settings.ledgerPartition($0)] },
            candidates: [batch.candidates] + earlier
        )
        let (stage, records) = (verifyStage, batch.records)
        batch.stage = .verifying
        hand(batch, count: records.count, grain: 32, priority: .normal) { range, lane in
            stage.verify(records[range], keys: keys[range], on: lane)
        } then: { batch, findings in
            batch.findings = findings
            batch.stage = .verified
        }
    }

    /// Admit on the loop, then encoding on the lanes.
    private func admit(_ batch: Batch) {
        let (records, findings) = (batch.takeRecords(), batch.findings)
        batch.findings = []
        let verdicts = admitStage.admit(records, findings: findings, overlay: &batch.overlay) { self.ledgers[$0] }
        batch.tally.add(verdicts)
        batch.positions = PartitionPosition.after(records)
        let (stage, packer) = (emitStage, log.packer)
        batch.stage = .encoding
        hand(batch, count: records.count, grain: 64, priority: .high) { range, _ in
            var outputs: [OutboundRecord] = []
            outputs.reserveCapacity(range.count)
            for index in range { stage.encode(records[index], findings[index], verdicts[index], into: &outputs) }
            return [packer.map { EncodedGrain(packed: $0(outputs)) } ?? EncodedGrain(records: outputs)]
        } then: { batch, outputs in
            batch.outputs = outputs
            batch.stage = .encoded
        }
    }

    private func commit(_ batch: Batch) throws {
        try log.begin()
        if log.packer == nil {
            try log.append(batch.outputs.flatMap(\.records))
        } else {
            try log.append(packed: batch.outputs.flatMap(\.packed))
        }
        try log.commit(batch.positions)
        for (partition, changes) in batch.overlay.changes {
            ledgers[partition, default: KeyLedger()].apply(changes)
        }
        tally.add(batch.tally)
    }

    private func hand<Output: Sendable>(
        _ batch: Batch,
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        then finish: @escaping @Sendable (Batch, [Output]) -> Void
    ) {
        let (number, epoch) = (batch.number, epoch)
        lanes.run(count: count, grain: grain, priority: priority, body) { outputs in
            self.post {
                // A batch that an abort killed is not in flight any more.
                guard epoch == self.epoch, let batch = self.inFlight.first(where: { $0.number == number }) else {
                    return
                }
                finish(batch, outputs)
            }
        }
    }

    /// Moves every batch as far as it can go. The oldest alone is admitted, encoded and committed.
    private func advance() throws -> Bool {
        var moved = false
        var earlier: [CandidateKeys] = []
        var allDecoded = true
        for batch in inFlight {
            // In order: a later batch's assertions may ride on the attestations of every batch before it.
            if batch.stage == .decoded, batch.fault == nil, allDecoded {
                verify(batch, earlier: earlier)
                moved = true
            }
            allDecoded = allDecoded && batch.stage != .decoding
            earlier.insert(batch.candidates, at: 0)
        }
        while let oldest = inFlight.first {
            // Not before its turn: which fault ends the work must not depend on which lane was faster.
            if let fault = oldest.fault { throw fault }
            if oldest.stage == .verified {
                admit(oldest)
                moved = true
            }
            guard oldest.stage == .encoded else { break }
            do { try commit(oldest) } catch let fault as any LogFault where !fault.endsLoop {
                // Whatever a commit's fault says of itself: its unit was not finished, so it is done again.
                kill()
                throw fault
            }
            inFlight.removeFirst()
            moved = true
        }
        return moved
    }
}

// MARK: - Aborts and assignments

extension BatchLoop {
    /// Every batch in flight dies: the log will rewind and give their records again.
    private func kill() {
        drop()
        needsAbort = true
    }

    private func drop() {
        epoch += 1
        inFlight = []
        // What was read up to the input's end is read again; the log says anew when it comes there.
        ended = false
        tally.aborts += 1
    }

    private func abort() throws {
        try log.abort()
        needsAbort = false
    }

    private func begin(_ change: AssignmentChange) {
        // What is lost may belong to somebody else already: nothing in flight may be committed.
        if case .lost = change { drop() }
        pendingChange = change
    }

    private func finish(_ change: AssignmentChange) throws {
        switch change {
        case .assigned(let partitions):
            for partition in partitions where ledgers[settings.ledgerPartition(partition)] == nil {
                ledgers[settings.ledgerPartition(partition)] = KeyLedger()
            }
        case .revoked(let partitions), .lost(let partitions):
            // Another worker moves these counters now: what is remembered here would let old assertions back in.
            for partition in partitions { ledgers[settings.ledgerPartition(partition)] = nil }
            try log.releaseRevoked()
        }
        pendingChange = nil
    }
}

/// A capture's line that is no record.
package struct CaptureFault: Error, Equatable, Sendable {
    package let lineNumber: Int
    package let reason: String
}
