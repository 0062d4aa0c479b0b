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
        package var breaker = Breaker.Limits()
        /// How long partitions that are to be given back may wait for the oldest batch, in milliseconds.
        package var revokeMilliseconds: Int64 = 2_000
        #if DEBUG
            package var sabotage: Sabotage?
        #endif
        package init() {}
    }

    /// What ``tick()`` found to do.
    package enum Progress: Sendable, Equatable {
        /// Something moved; call again at once.
        case worked
        /// Batches are with the lanes, or nothing came: call again when a result was posted, or after a while.
        case waiting
        /// The log failed in a way that may pass, or the breaker is open: call again after a pause.
        case backOff
        /// The input has ended and everything is committed.
        case finished
    }

    let log: any RecordLog
    private(set) var settings: PipelineSettings
    let lanes: any LaneRunner
    let options: Options
    let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    let wallClock: @Sendable () -> EvaluationTime?
    private let notice: @Sendable (any LogFault) -> Void

    private(set) var stages: Stages
    private var nextSettings: NextSettings?

    var inFlight: [Batch] = []
    private var nextNumber = 0
    private var ended = false
    private var stopping = false
    var pendingChange: AssignmentChange?
    var revocationEnd: EvaluationTime?
    var restoration: Restoration?
    /// How many were begun: tells their chunks apart.
    var restorations = 0
    /// Ledgers of partitions that were given away in order: only what others wrote since is read when they come back.
    var kept = KeptLedgers()
    /// Bumped by an abort: results of older batches are dropped when they come back.
    private(set) var epoch = 0
    /// An abort is due, or was tried and could not reach the log.
    private var needsAbort = false
    var bisection = Bisection()
    var breaker: Breaker
    private var hasToldBreaker = false

    package internal(set) var ledgers: [Int32: PartitionLedger] = [:]
    package internal(set) var tally = LoopTally()

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
        ledgers: [Int32: PartitionLedger] = [:],
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
        stages = Stages(settings: settings, options: options)
        breaker = Breaker(limits: options.breaker)
    }

    /// Whether nothing is in flight.
    package var isIdle: Bool { inFlight.isEmpty }

    /// How far the restore of newly assigned partitions is; nil = none is under way.
    package var restoring: RestoreProgress? {
        restoration.map { RestoreProgress(records: $0.applied, remaining: $0.remaining) }
    }

    /// Takes no more input; the oldest batch is finished and committed. In live mode the younger ones are left to whoever
    /// comes next: to wait for all of them may take seconds that nobody has.
    package func stop() {
        stopping = true
        if wallClock() != nil { inFlight.removeLast(max(0, inFlight.count - 1)) }
    }

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
        limitRevocation()
        // Not while ledgers are half read: which sealing keys are in use is known when they are whole.
        if inFlight.isEmpty, restoration == nil, let next = nextSettings { moved = take(next) || moved }
        if inFlight.isEmpty, let change = pendingChange {
            try finish(change)
            moved = true
        }
        if inFlight.isEmpty, pendingChange == nil, ended || stopping { return .finished }
        let wait = inFlight.isEmpty && !moved ? waitMilliseconds : 0
        if pendingChange == nil, restoration != nil {
            moved = try restore(waitMilliseconds: wait) || moved
        } else if pendingChange == nil, nextSettings == nil, !ended, !stopping, inFlight.count < mostInFlight {
            if let now = wallClock(), !breaker.allows(at: now) {
                if !hasToldBreaker { notice(BreakerOpen()) }
                hasToldBreaker = true
                return moved ? .worked : .backOff
            }
            hasToldBreaker = false
            moved = try poll(waitMilliseconds: wait) || moved
        }
        return moved ? .worked : .waiting
    }

    /// One at a time while a record is searched for.
    private var mostInFlight: Int { bisection.limit == nil ? options.batchesInFlight : 1 }

    private func poll(waitMilliseconds: Int) throws -> Bool {
        var limits = options.batch
        if let limit = bisection.limit { limits.records = min(limits.records, limit) }
        let round = try log.poll(limits, waitMilliseconds: waitMilliseconds)
        if round.ended { ended = true }
        if let change = round.change { begin(change) }
        guard !round.records.isEmpty else { return round.change != nil || round.ended }
        let batch = Batch(number: nextNumber, generation: round.generation, now: wallClock())
        nextNumber += 1
        inFlight.append(batch)
        decode(round.records, of: batch)
        return true
    }
}

// MARK: - Reload

extension BatchLoop {
    /// New settings waiting for the batches in flight to leave.
    private struct NextSettings {
        let settings: PipelineSettings
        let taken: @Sendable (MissingSealingKeys?) -> Void
    }

    /// Judges by other settings from the next batch on.
    ///
    /// - Parameter taken: told when they count, or which keys they lack and that the old ones stay.
    package func replace(_ settings: PipelineSettings, taken: @escaping @Sendable (MissingSealingKeys?) -> Void) {
        nextSettings = NextSettings(settings: settings, taken: taken)
    }

    private func take(_ next: NextSettings) -> Bool {
        nextSettings = nil
        let missing = missingSealingKeys(in: next.settings)
        if missing == nil {
            settings = next.settings
            stages = Stages(settings: settings, options: options)
        }
        next.taken(missing)
        return true
    }
}

// MARK: - Aborts

extension BatchLoop {
    /// Every batch in flight dies: the log will rewind and give their records again.
    func kill() {
        #if DEBUG
            if options.sabotage == .overlayKeptAfterAbort, let oldest = inFlight.first { apply(oldest.overlay) }
        #endif
        drop()
        needsAbort = true
    }

    func drop() {
        epoch += 1
        inFlight = []
        forgetRestoration()
        // What was read up to the input's end is read again; the log says anew when it comes there.
        ended = false
        tally.aborts += 1
    }

    private func abort() throws {
        try log.abort()
        needsAbort = false
    }
}
