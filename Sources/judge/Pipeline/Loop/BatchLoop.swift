package import AppAttest
internal import AppCheck
package import Streams
internal import Threads

/// The loop: polls batches, sends them through the lanes, admits and commits them one after the other.
///
/// It owns ledgers and streams and belongs to one queue (the worker's, or the simulation's thread), where lanes hand
/// their results back through `post`. It never waits for a lane: ``tick()`` does the work that is ready and returns.
///
/// Its states are independent of each other, and each draws its steps: ``LoopPhase``, ``AssignmentPhase``,
/// ``PendingRound``, ``Writing``, ``NextSettings``, and every batch's ``Batch/Stage``.
package final class BatchLoop: @unchecked Sendable {
    var owner = Owner("BatchLoop")
    let streams: StreamRoles
    let lanes: any LaneRunner
    let options: Options
    let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    let wallClock: @Sendable () -> EvaluationTime?
    let uptime: @Sendable () -> Int64?
    let notice: @Sendable (any SourceFault) -> Void
    /// The stages of the settings that are in use.
    var stages: Stages
    var nextSettings = NextSettings.none { willSet { nextSettings.check(newValue) } }

    var inFlight: [Batch] = []
    var phase = LoopPhase.reading { willSet { phase.check(newValue) } }
    var assignment = AssignmentPhase.settled { willSet { assignment.check(newValue) } }
    var pendingRound = PendingRound.none { willSet { pendingRound.check(newValue) } }
    var writing = Writing.none { willSet { writing.check(newValue) } }
    /// Whether the last tick would have started work, were it not for another loop of the process.
    var awaitsOthers = false
    /// Ledgers of partitions that were revoked, not lost: when these return, only the records of others since are read.
    var kept = KeptLedgers()
    var standby = StandbyLedgers()
    var schedule = SnapshotSchedule()
    var cut: BatchCut
    var clocks = ClockWatch()
    var breaker: Breaker
    package internal(set) var ledgers: [Int32: PartitionLedger] = [:]
    package internal(set) var tally = LoopTally()
    /// Batches whose commits have failed, and may be durable all the same: each partition is in one at most.
    /// With the apps' places as of then: a reload may come before the answer.
    var doubted: [(batch: Batch, places: [Int32])] = []

    /// - Parameters:
    ///   - ledgers: the state at the start, by ledger partition.
    ///   - post: brings a block onto the loop's thread.
    ///   - wallClock: the time in live mode; nil in replay, where only the records' times count.
    ///   - uptime: milliseconds since some fixed moment, by a clock that cannot be set and that runs while the machine
    ///     sleeps; nil = the wall clock's.
    ///   - notice: called with every fault that the loop rides out.
    package init(
        streams: StreamRoles,
        settings: PipelineSettings,
        lanes: any LaneRunner,
        options: Options = Options(),
        ledgers: [Int32: PartitionLedger] = [:],
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        wallClock: @escaping @Sendable () -> EvaluationTime?,
        uptime: (@Sendable () -> Int64?)? = nil,
        notice: @escaping @Sendable (any SourceFault) -> Void = { _ in }
    ) {
        (self.streams, self.lanes, self.options, self.ledgers) = (streams, lanes, options, ledgers)
        (self.post, self.wallClock, self.notice) = (post, wallClock, notice)
        self.uptime = uptime ?? { wallClock()?.milliseconds }
        stages = Stages(settings: settings, options: options, places: tally.answers.places(of: settings.registry))
        breaker = Breaker(limits: options.breaker)
        cut = BatchCut(pace: BatchPace(most: options.batch.records), suspects: options.suspects)
        for item in cut.suspects.convicted { notice(CrashVerdict(item: item)) }
    }

    /// Partitions that are not read, each with a sentence that says why and what helps.
    package var held: [Int32: String] { member?.holds ?? [:] }

    /// What is being written is the oldest batch in flight, whatever happens to the others.
    var isWritingOldest: Bool { writing.batch.map { $0 === inFlight.first } ?? true }

    /// Whether the next tick waits in a poll.
    package var isIdle: Bool {
        inFlight.isEmpty && !awaitsOthers && !isAwaiting && assignment.restoration?.mayRead ?? true
    }

    /// Whether only an answer to the member is waited for, which wakes the driver.
    package var isAwaiting: Bool {
        inFlight.isEmpty && (phase == .aborting || member?.isAwaiting ?? false)
    }

    /// Whether the outcome of a commit waits for the next tick.
    package var hasOutcome: Bool { writing.batch != nil && streams.transaction.hasOutcome }

    /// Whether a stop left a batch whose commit had failed.
    package var endedWithoutCommit: Bool { phase == .abandoned }

    /// Whether a commit has failed that may be durable all the same, and the ledger was not read back since.
    package var isInDoubt: Bool { !doubted.isEmpty }

    /// Why nothing is judged; nil = the clocks agree.
    package var clockDoubt: ClockDoubt? { clocks.present?.doubt }

    /// How far the restore of newly assigned partitions is; nil = none is under way.
    package var restoring: RestoreProgress? {
        assignment.restoration.map { RestoreProgress(records: $0.applied, remaining: $0.remaining) }
    }

    /// Stops polling and finishes the batches in flight. In live mode only the oldest is finished, and the next owner
    /// processes the others again: finishing all of them may take seconds more than a stop allows.
    package func stop() {
        owner.check()
        if !phase.isStopped { phase = phase == .aborting ? .abandoned : .stopping }
        if wallClock() != nil {
            inFlight.removeLast(max(0, inFlight.count - 1))
            // A round that waits came after the batches that were dropped: its offsets would pass theirs.
            pendingRound = .none
        }
        assert(phase.isStopped && isWritingOldest, "a stop takes back nothing that is being written")
    }

    /// Does the work that needs no waiting for a lane.
    ///
    /// - Parameter waitMilliseconds: how long a poll may wait when there is nothing else to do.
    /// - Throws: a fault of the world that the streams could not ride out, or of a capture that cannot be read.
    package func tick(waitMilliseconds: Int) throws -> Progress {
        owner.check()
        awaitsOthers = false
        defer { noteRest() }
        do {
            // What is being written may become durable all the same: its outcome comes first.
            if phase.isAbortDue, let batch = writing.batch, try !settle(batch) {
                return try serve() ? .worked : .waiting
            }
            // The batches in flight were dropped uncommitted: the next owner repeats them.
            if phase == .abandoned { return .finished }
            if phase == .aborting, try !abort() { return try serve() ? .worked : .waiting }
            let progress = try move(waitMilliseconds: waitMilliseconds)
            return progress == .waiting && hasOutcome ? .worked : progress
        } catch let fault as any SourceFault where !fault.endsLoop {
            notice(fault)
            if fault.requiresAbort, !phase.isAbortDue { kill(fault.abortCause) }
            return .backOff
        }
    }

    /// Keeps the membership in the group alive in a pause; called at least twice a second.
    ///
    /// - Returns: whether the group wants an answer now, or the transaction that is being written has ended.
    package func serve() throws -> Bool {
        owner.check()
        do {
            return take(try member?.serve() ?? []) || hasOutcome
        } catch let fault as any SourceFault where !fault.endsLoop {
            notice(fault)
            return false
        }
    }

    private func move(waitMilliseconds: Int) throws -> Progress {
        var moved = try advance()
        limitRevocation()
        kept.sweep(at: uptime())
        moved = try reload() || moved
        if inFlight.isEmpty { moved = try finishChange() || moved }
        if isDone { return .finished }
        moved = readStandby() || moved
        let waitMilliseconds = min(waitMilliseconds, standbyRest ?? .max)
        let wait = inFlight.isEmpty && !moved ? waitMilliseconds : 0
        if let restoration = assignment.restoration {
            moved = try restore(restoration, waitMilliseconds: wait) || moved
        }
        switch pendingRound {
        // A clock is set while nothing comes, too.
        case .none: _ = clockAllows()
        case .pieces:
            moved = startPiece() || moved
            return try serve() || moved ? .worked : .waiting
        case .doubted(let round):
            guard clockAllows(round.records) else { return try serve() || moved ? .worked : .backOff }
            guard !isProvingClock, mayStart(exclusively: false) else {
                return try serve() || moved ? .worked : .waiting
            }
            pendingRound = .none
            moved = startBatch(of: round) || moved
            return moved ? .worked : .waiting
        }
        guard mayPoll else { return try serve() || moved ? .worked : .waiting }
        if let now = wallClock(), !breaker.allows(at: now) {
            if !breaker.isReported { notice(BreakerOpen()) }
            breaker.isReported = true
            return try serve() || moved ? .worked : .backOff
        }
        if breaker.isReported { notice(BreakerClosed()) }
        breaker.isReported = false
        guard mayStart(exclusively: false) else { return try serve() || moved ? .worked : .waiting }
        moved = try poll(waitMilliseconds: assignment.restoration == nil && !moved ? wait : 0) || moved
        return moved ? .worked : .waiting
    }

    private var mayPoll: Bool {
        guard !assignment.isChanging, phase == .reading, inFlight.count < mostInFlight else { return false }
        // New settings start between two batches.
        return !waitsForSettings && assignment.restoration?.hasStarted ?? true
    }

    /// One at a time while a record is searched for, or runs alone, or the newest batch is small.
    private var mostInFlight: Int {
        let isSmall = inFlight.last.map { $0.polledRecords < options.smallBatch } ?? false
        return isSmall || isProvingClock || cut.bisection.limit != nil || inFlight.first?.isAlone ?? false
            ? 1 : options.batchesInFlight
    }

    private func poll(waitMilliseconds: Int) throws -> Bool {
        var limits = options.batch
        limits.records = cut.records
        // The first records go at once: records that arrive meanwhile make the next batch.
        limits.milliseconds = 0
        let round = try streams.source.poll(limits, waitMilliseconds: waitMilliseconds)
        if round.ended { phase = .ended }
        let hasChanged = take(round.events)
        guard !round.records.isEmpty else { return hasChanged || round.ended }
        noteTimes(of: round.records)
        guard clockAllows(round.records) else {
            pendingRound = .doubted(round)
            return true
        }
        return startBatch(of: round)
    }

    private func startBatch(of round: PollRound) -> Bool {
        if let pieces = cut.suspects.split(round.records) {
            pendingRound = .pieces(pieces[...], of: round.generation)
            return startPiece()
        }
        if round.records.count > 1, let now, clocks.broker.isUnproven(at: now) {
            // All of it is old, or the clock is ahead: the first record's commit tells.
            var rest = round
            start([rest.records.removeFirst()], of: round.generation, isAlone: false)
            pendingRound = .doubted(rest)
            return true
        }
        start(round.records, of: round.generation, isAlone: false)
        return true
    }

    private func startPiece() -> Bool {
        guard inFlight.isEmpty, !phase.isStopped, case .pieces(let pieces, let generation) = pendingRound,
            let piece = pieces.first, mayStart(exclusively: piece.count == 1)
        else { return false }
        pendingRound = pieces.count == 1 ? .none : .pieces(pieces.dropFirst(), of: generation)
        start(piece, of: generation, isAlone: piece.count == 1)
        return true
    }

    private func start(_ records: [PolledRecord], of generation: Generation, isAlone: Bool) {
        precondition((inFlight.last?.generation.number ?? 0) <= generation.number, "generations rise")
        let batch = Batch(
            number: cut.takeNumber(),
            generation: generation,
            now: wallClock(),
            isAlone: isAlone,
            polledRecords: records.count
        )
        assert(!records.isEmpty && inFlight.last?.number ?? -1 < batch.number, "batches have records, and an order")
        inFlight.append(batch)
        assert(inFlight.count <= max(1, options.batchesInFlight) && isWritingOldest, "no more than the lanes are for")
        decode(records, of: batch)
    }

    /// Whether nothing is in flight, and nothing will be.
    private var isDone: Bool {
        guard inFlight.isEmpty, !assignment.isChanging else { return false }
        if case .none = pendingRound, phase == .ended { return true }
        return phase == .stopping
    }
}
