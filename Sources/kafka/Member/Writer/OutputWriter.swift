package import KafkaPorts
internal import Pipeline
internal import Streams

/// Writes batches' outputs, one step at a time. Each step makes one call of the port: anything may happen between two.
/// Its host owns it, and hands time in.
///
/// A transactional producer is discarded after everything that leaves its state in doubt, a fatal abort among it, and
/// after a commit or an abort with a request unanswered on the wire: a late copy from a discarded producer has an old
/// epoch, which the broker refuses. Discarding is an ordinary way out; only two live processes with one name are an error.
package final class OutputWriter {
    package enum Producer {
        case transactional(any TransactionProducer)
        case idempotent(any RecordProducer)
    }

    package enum Step {
        /// The job goes on with the next step.
        case again
        /// The same as ``again``, with a report for the member.
        case report(WriterOutcome)
        case done(WriterOutcome)
    }

    let settings: Settings
    let makeProducer: () throws(KafkaFault) -> Producer
    var state = State.none { willSet { state.check(newValue) } }
    /// nil in the states none and closed.
    var producer: Producer?
    private var job: WriterJob?
    /// The time at which the job came; for a take-over, the time of its last report.
    var startedAt = Moment(milliseconds: 0)
    /// The output from its begin to its end, which is an abort's where it has failed.
    var output: OpenOutput?
    var transaction = TransactionGuard()
    var fences: FenceCounter
    /// The topics' known partition counts; unknown ones are asked for with the first record.
    var partitionCounts: [String: Int32] = [:]
    var wasConnected = false
    /// The ends of our own ledger records, at least once. Records of others may lie between them, so a restore does not
    /// start there.
    var ownLedgerEnds: [Int32: Int64] = [:]
    /// Whether a call that may be repeated has failed: one that fails at once must not be repeated at once.
    var needsPause = false

    package init(_ settings: Settings, makeProducer: @escaping () throws(KafkaFault) -> Producer) {
        (self.settings, self.makeProducer) = (settings, makeProducer)
        fences = .ofWriter(isStaticMember: settings.isStaticMember)
    }

    /// Takes a job; the next one comes after its final outcome.
    package func accept(_ job: WriterJob, at now: Moment) {
        precondition(self.job == nil && state != .closed, "one job at a time, and none after the last")
        if case .write = job { precondition(output == nil, "an output that failed ends before the next one") }
        self.job = job
        startedAt = now
        if case .takeOver(let counts) = job, !counts.isEmpty { partitionCounts = counts }
    }

    /// Makes one step; called again while it returns ``Step/again`` or ``Step/report(_:)``.
    package func step(at now: Moment) -> Step {
        guard let job else { preconditionFailure("a step belongs to a job") }
        if needsPause, let producer {
            needsPause = false
            // Returns as soon as something happens.
            producer.records.serve(limit: Self.pauseMilliseconds)
            return .again
        }
        let step =
            switch job {
            case .takeOver: takeOver(at: now)
            case .write(let batch): write(batch, at: now)
            case .abort: abort(at: now)
            case .close: close(at: now)
            }
        assert(producer == nil || state != .none && state != .closed, "a producer that was discarded is gone")
        guard case .done = step else { return step }
        (self.job, needsPause) = (nil, false)
        if case .failed = state { return step }
        output = nil
        return step
    }

    private static let pauseMilliseconds = 20

    /// Discards the producer. The id is taken over again when it is needed: nobody waits for that.
    func discard() {
        releaseProducer()
        state = .none
    }

    func releaseProducer() {
        // The records that it still holds were committed or are to be dropped.
        producer?.records.discard()
        producer = nil
    }

    /// Whether a copy of a request may still change a later transaction of this producer.
    var hasRepeats: Bool {
        producer?.transactions?.unanswered.mayHaveRepeats ?? false
    }

    /// The deliveries of the present output's records.
    var deliveries: DeliverySummary { producer?.records.deliveries ?? DeliverySummary() }
}

extension OutputWriter.Producer {
    var records: any RecordProducer {
        switch self {
        case .transactional(let producer): producer
        case .idempotent(let producer): producer
        }
    }

    var transactions: (any TransactionProducer)? {
        if case .transactional(let producer) = self { producer } else { nil }
    }
}

/// A batch's output that is being written.
struct OpenOutput {
    /// The records of the present call that are not queued yet.
    var rest: ArraySlice<OutboundRecord>
    /// The parts of the ledger's records that are not begun, at least once.
    var ledger: ArraySlice<[OutboundRecord]> = []
    let knownLedgerEnds: [Int32: Int64]
    /// Ledger partitions that were found to be cut.
    var cutLedgers: Set<Int32> = []
    private let count: Int
    private let begunAt: Moment
    private let budget: Int64

    init(_ batch: OutputBatch, at now: Moment) {
        (rest, count, knownLedgerEnds) = (batch.records[...], batch.records.count, batch.knownLedgerEnds)
        (begunAt, budget) = (now, batch.budget.left(at: now))
    }

    /// The share of its time that has passed; above 1 when it is exceeded.
    func timeShare(at now: Moment) -> Double { Double(now - begunAt) / Double(max(budget, 1)) }

    /// Adds to a time-out the share of the output that was acknowledged in time.
    func progress(addedTo fault: KafkaFault, _ deliveries: DeliverySummary) -> KafkaFault {
        guard fault.isTimeout || fault.isExpiry, count > 0 else { return fault }
        return fault.afterAcknowledging(min(1, Double(deliveries.acknowledged) / Double(count)))
    }
}
