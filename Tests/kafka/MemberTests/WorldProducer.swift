import KafkaPorts
import Streams

@testable import Member

/// A client of that coordinator; every call may fail as librdkafka's does.
final class WorldProducer: TransactionProducer {
    private let world: WriterWorld
    private let isAtomic: Bool
    private var epoch = -1
    private var queue: [OutboundRecord] = []
    private var isDead = false
    /// The library refuses to go on before an abort.
    private var mustAbort = false
    /// An abort without a reason to give the producer up.
    private var mayKeep = true
    private(set) var deliveries = DeliverySummary()
    private(set) var unanswered = UnansweredRequests()
    private(set) var fatalFault: KafkaFault?

    init(_ world: WriterWorld, isAtomic: Bool) { (self.world, self.isAtomic) = (world, isAtomic) }

    private func fatal(_ fault: KafkaFault) -> KafkaFault {
        let judged = fault.with(isFatal: true, requiresAbort: false)
        fatalFault = fatalFault ?? judged
        return judged
    }

    private func abortable(_ message: String) -> KafkaFault {
        mustAbort = true
        return KafkaFault(code: 22, name: "ILLEGAL_GENERATION", message: message, requiresAbort: true)
    }

    private func use() throws(KafkaFault) {
        if isDead { world.complain("a discarded producer is used") }
        world.expire()
        if let fatalFault { throw fatalFault }
    }

    private func fenced() -> KafkaFault { fatal(KafkaFault(.producerFenced, "fenced")) }

    func know(_ counts: [String: Int32]) {}
    func connect(limit milliseconds: Int) {}

    func initTransactions(limit milliseconds: Int) throws(KafkaFault) {
        try use()
        if world.happens(0.2, "an init took long") {
            if world.happens(0.2, "an init was unanswered") { unanswered.inits += 1 }
            throw .timedOut("taking over")
        }
        epoch = world.takeOver()
        if world.happens(0.02, "an init was fenced") { throw fenced() }
    }

    func begin() throws(KafkaFault) {
        if fatalFault != nil { world.complain("a transaction begins after a fatal fault, which may hang") }
        if mustAbort { world.complain("a transaction begins while one is open") }
        try use()
        mayKeep = true
    }

    func produce(_ records: ArraySlice<OutboundRecord>) throws(KafkaFault) -> Int {
        try use()
        // A writer takes a mark back even where another member owns the partition.
        if !isAtomic, world.isLost, records.contains(where: { $0.stream == .ledger && $0.sourceOffset >= 0 }) {
            world.complain("the ledger was written after the assignment was lost")
        }
        if world.happens(0.02, "a record was refused") { throw KafkaFault(.msgSizeTooLarge, "too large") }
        let taken = world.happens(0.1, "the queue was full") ? records.count / 2 : records.count
        queue += records.prefix(taken)
        return taken
    }

    /// Records arrive one after the other; a flush may end between two.
    private func deliver() {
        while let record = queue.first {
            if world.happens(0.05, "a flush was cut short") { return }
            queue.removeFirst()
            guard !isAtomic || world.add(record, epoch) else { return failAll(fenced()) }
            if world.happens(0.01, "a record failed") {
                deliveries.failed += 1
                deliveries.firstFault = deliveries.firstFault ?? .stale("a record was not delivered")
                // It may be in the topic all the same.
                if !isAtomic, world.happens(0.5, "a failed record was written") { world.append(record) }
                if world.happens(0.3, "a record expired unsent") { deliveries.unsent += 1 }
                continue
            }
            guard !world.happens(0.01, "a record was acknowledged without an offset") else {
                deliveries.withoutOffset += 1
                deliveries.firstFault = deliveries.firstFault ?? .stale("acknowledged without an offset")
                if isAtomic { world.drop(record) }
                continue
            }
            acknowledge(record)
        }
        if isAtomic { world.deliverLateCopies() }
    }

    private func acknowledge(_ record: OutboundRecord) {
        if !isAtomic { world.append(record) }
        deliveries.acknowledged += 1
        guard record.stream == .ledger else { return }
        let offset = world.nextLedgerOffset()
        deliveries.firstLedgerOffsets[0] = min(deliveries.firstLedgerOffsets[0] ?? offset, offset)
        deliveries.lastLedgerOffsets[0] = offset
    }

    private func failAll(_ fault: KafkaFault) {
        deliveries.failed += queue.count + 1
        deliveries.firstFault = deliveries.firstFault ?? fault
        queue = []
    }

    func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        try use()
        if isAtomic, !queue.isEmpty, world.happens(0.1, "an addition has no answer yet") { unanswered.additions += 1 }
        if !isAtomic, world.happens(0.01, "an idempotent producer broke") {
            throw fatal(KafkaFault(code: 45, name: "OUT_OF_ORDER", message: "out of order"))
        }
        deliver()
        answerAdditions()
        return queue.isEmpty
    }

    private func answerAdditions() {
        if unanswered.additions > 0, !world.happens(0.3, "an addition stays unanswered") { unanswered.additions = 0 }
    }

    func serve(limit milliseconds: Int) { answerAdditions() }
    func forgetDeliveries() { deliveries = DeliverySummary() }
    var outstanding: Int { queue.count }

    func sendOffsets(
        _ offsets: [PartitionOffset],
        _ token: any MemberToken,
        _ budget: CallBudget
    ) throws(KafkaFault) {
        try use()
        if !queue.isEmpty { world.complain("offsets were sent while records were in flight") }
        if world.happens(0.05, "offsets were to be sent again") { throw KafkaFault(.coordinatorNotAvailable, "busy") }
        if world.happens(0.03, "offsets were refused") { throw abortable("the group moved on") }
        if world.happens(0.02, "offsets had no answer") {
            // Given up, and taken all the same.
            _ = world.addOffset(offsets[0].offset, epoch)
            throw fatal(.timedOut("sending offsets"))
        }
        guard world.addOffset(offsets[0].offset, epoch) else { throw fenced() }
    }

    func commit(limit milliseconds: Int) throws(KafkaFault) {
        try use()
        if world.happens(0.05, "a commit was to be repeated") { throw .timedOut("committing") }
        if world.happens(0.02, "a commit got lost") {
            world.loseCommit(epoch)
            throw fatal(.timedOut("committing"))
        }
        guard world.end(epoch, isCommit: true) else { throw fenced() }
        endTransaction(isCommit: true)
        if world.happens(0.03, "a commit's answer got lost") { throw fatal(.timedOut("committing")) }
    }

    private func endTransaction(isCommit: Bool) {
        mustAbort = false
        guard world.happens(0.08, "an end has a copy") else { return }
        unanswered.ends += 1
        world.leaveCopy(epoch, isCommit: isCommit)
    }

    func abort(limit milliseconds: Int) throws(KafkaFault) {
        if unanswered.additions > 0 || !queue.isEmpty {
            world.complain("an abort overtakes requests, which may end the process")
        }
        try use()
        if world.happens(0.1, "an abort took long") {
            mayKeep = false
            throw .timedOut("aborting")
        }
        guard world.end(epoch, isCommit: false) else { throw fenced() }
        endTransaction(isCommit: false)
    }

    func discard() {
        let isWell = fatalFault == nil && unanswered == UnansweredRequests() && queue.isEmpty && deliveries.unsent == 0
        if isAtomic, isWell, mayKeep, mustAbort { world.complain("a producer that could abort is wasted") }
        isDead = true
    }
}
