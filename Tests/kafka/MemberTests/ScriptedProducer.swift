import KafkaPorts
import Pipeline
import Streams

@testable import Member

typealias Delivery = OutputWriter.Settings.Delivery

extension Delivery {
    static let both: [Delivery] = [.transaction, .atLeastOnce]
}

/// The calls of the port that can fail.
enum PortCall: String, CaseIterable, Sendable {
    case initTransactions = "init"
    case begin, produce, flush, offsets, end, abort
}

/// What became of a call.
enum CallOutcome: String, CaseIterable, Sendable {
    case done
    /// A full queue, or records still in flight.
    case partly
    /// The library asks for the same call again.
    case again
    case abortable
    /// The broker knows the client and refuses it.
    case refused
    case fenced
    /// Only a new producer helps.
    case fatal
    /// Neither fatal nor abortable nor retriable.
    case other

    var fault: KafkaFault? {
        switch self {
        case .done, .partly: nil
        case .again: .timedOut("no answer yet")
        case .abortable: .stale("the group moved on").withoutRetry
        case .refused: KafkaFault(.topicAuthorizationFailed, "no right").with(isFatal: false, requiresAbort: true)
        case .fenced: KafkaFault(.producerFenced, "fenced").with(isFatal: true, requiresAbort: false)
        case .fatal: KafkaFault(code: 45, name: "OUT_OF_ORDER", message: "out of order", isFatal: true)
        case .other: .invalid("no transaction is open")
        }
    }

    var leavesFatalFault: Bool { self == .fenced || self == .fatal }
}

extension KafkaFault {
    var withoutRetry: KafkaFault {
        KafkaFault(code: 22, name: "ILLEGAL_GENERATION", message: message, requiresAbort: true)
    }
}

final class TestToken: MemberToken {}

/// A producer that plays the outcomes of a script, and notes its calls.
final class ScriptedProducer: TransactionProducer {
    var isOutdated = false
    /// The outcomes of the next calls of a kind, then `done`.
    var script: [PortCall: [CallOutcome]] = [:]
    /// Faults of the next call of a kind, where an outcome does not say enough.
    var faults: [PortCall: KafkaFault] = [:]
    /// What becomes of a flush beside its outcome.
    var onFlush: (ScriptedProducer) -> Void = { _ in }
    private(set) var calls: [String] = []
    private(set) var produced: [OutboundRecord] = []
    private(set) var isDiscarded = false
    var deliveries = DeliverySummary()
    var outstanding = 0
    var fatalFault: KafkaFault?
    var unanswered = UnansweredRequests()

    func takeCalls() -> [String] {
        defer { calls = [] }
        return calls
    }

    private func next(_ call: PortCall) -> CallOutcome {
        guard script[call]?.isEmpty == false, let outcome = script[call]?.removeFirst() else { return .done }
        return outcome
    }

    private func play(_ call: PortCall, _ limit: Int? = nil) throws(KafkaFault) -> CallOutcome {
        calls.append(limit.map { "\(call.rawValue) \($0)" } ?? call.rawValue)
        if let fault = faults.removeValue(forKey: call) { throw fault }
        let outcome = next(call)
        if outcome.leavesFatalFault { fatalFault = outcome.fault }
        if let fault = outcome.fault { throw fault }
        return outcome
    }

    func know(_ counts: [String: Int32]) {}
    func connect(limit milliseconds: Int) { calls.append("connect \(milliseconds)") }
    func initTransactions(limit milliseconds: Int) throws(KafkaFault) {
        _ = try play(.initTransactions, milliseconds)
    }
    func begin() throws(KafkaFault) { _ = try play(.begin) }
    func produce(_ records: ArraySlice<OutboundRecord>) throws(KafkaFault) -> Int {
        let outcome = try play(.produce, records.count)
        let taken = outcome == .partly ? records.count / 2 : records.count
        produced += records.prefix(taken)
        return taken
    }
    func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        let outcome = try play(.flush, milliseconds)
        onFlush(self)
        return outcome == .done
    }
    func serve(limit milliseconds: Int) { calls.append("serve \(milliseconds)") }
    func forgetDeliveries() { deliveries = DeliverySummary() }
    func sendOffsets(
        _ offsets: [PartitionOffset],
        _ token: any MemberToken,
        _ budget: CallBudget
    ) throws(KafkaFault) {
        _ = try play(.offsets)
    }
    func commit(limit milliseconds: Int) throws(KafkaFault) { _ = try play(.end, milliseconds) }
    func abort(limit milliseconds: Int) throws(KafkaFault) { _ = try play(.abort, milliseconds) }
    func discard() {
        calls.append("discard")
        isDiscarded = true
    }
}

/// A writer on scripted producers, at a time of the test's own.
final class WriterBench {
    private final class Made {
        var producers: [ScriptedProducer] = []
    }

    var now = Moment(milliseconds: 1_000)
    var producers: [ScriptedProducer] { made.producers }
    private(set) var reports: [WriterOutcome] = []
    let writer: OutputWriter
    private let made = Made()
    let budgetMilliseconds: Int64 = 30_000

    init(
        _ delivery: Delivery = .transaction,
        isStatic: Bool = false,
        prepare: @escaping (ScriptedProducer) -> Void = { _ in },
        change: (inout OutputWriter.Settings) -> Void = { _ in }
    ) {
        var settings = OutputWriter.Settings(delivery: delivery, transactionalID: "group-one", isStaticMember: isStatic)
        {
            $0.isRefusal ? $0.with(message: "\($0.message): explained") : $0
        }
        change(&settings)
        writer = OutputWriter(settings) { [made] in
            let producer = ScriptedProducer()
            prepare(producer)
            made.producers.append(producer)
            return delivery == .transaction ? .transactional(producer) : .idempotent(producer)
        }
    }

    var producer: ScriptedProducer { producers[producers.count - 1] }

    /// A writer that owns its transactional id, and whose producer's calls are noted from then on.
    static func ready(
        _ delivery: Delivery = .transaction,
        change: (inout OutputWriter.Settings) -> Void = { _ in }
    ) -> WriterBench {
        let bench = WriterBench(delivery, change: change)
        bench.run(.takeOver([:]))
        _ = bench.producer.takeCalls()
        return bench
    }

    func batch(_ change: (inout OutputBatch) -> Void = { _ in }) -> OutputBatch {
        var batch = OutputBatch(
            records: [.sample(.results, 0), .sample(.ledger, 0), .sample(.results, 1), .sample(.ledger, 1)],
            offsets: [PartitionOffset(partition: 0, offset: 7)],
            token: TestToken(),
            budget: CallBudget(until: now + budgetMilliseconds)
        )
        change(&batch)
        return batch
    }

    /// Steps until the job ends, `milliseconds` each.
    @discardableResult
    func run(_ job: WriterJob, step milliseconds: Int64 = 1) -> WriterOutcome {
        writer.accept(job, at: now)
        while true { if let outcome = step(milliseconds) { return outcome } }
    }

    /// The job's outcome, once it has one.
    func step(_ milliseconds: Int64 = 1) -> WriterOutcome? {
        defer { now = now + milliseconds }
        switch writer.step(at: now) {
        case .again: return nil
        case .report(let outcome):
            reports.append(outcome)
            return nil
        case .done(let outcome): return outcome
        }
    }
}

extension OutboundRecord {
    static func mark(_ partition: Int32) -> OutboundRecord { ledger(.mark, partition) }

    static func ledger(_ kind: LedgerCodec.Kind, _ partition: Int32) -> OutboundRecord {
        var record = sample(.ledger, partition)
        record.key = [kind.rawValue]
        return record
    }

    static func sample(_ stream: OutputTopic, _ partition: Int32) -> OutboundRecord {
        OutboundRecord(
            stream: stream,
            partition: partition,
            sourceOffset: 1,
            sourceTimestamp: 2,
            key: [1],
            value: [2]
        )
    }
}

extension WriterOutcome {
    var fault: KafkaFault? { if case .failed(let fault, _) = self { fault } else { nil } }

    var cutLedgers: Set<Int32>? {
        switch self {
        case .failed(_, let cut), .aborted(_, let cut): cut
        case .tookOver, .stillTakingOver, .arrived, .written, .closed: nil
        }
    }

    /// Of an abort.
    var isUnknown: Bool? { if case .aborted(let isUnknown, _) = self { isUnknown } else { nil } }

    var isWritten: Bool { if case .written = self { true } else { false } }
}
