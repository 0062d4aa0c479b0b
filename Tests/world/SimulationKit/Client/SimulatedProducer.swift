internal import DeviceLab
internal import KafkaPorts
internal import Streams

/// An idempotent producer as librdkafka has it: it queues records, and delivers them while a call waits.
class SimulatedProducer: RecordProducer {
    unowned let process: SimulatedProcess
    let name: String
    var queue: [OutboundRecord] = []
    var deliveries = DeliverySummary()
    var fatalFault: KafkaFault?
    private(set) var isDiscarded = false
    /// When outputs were last let through, where only so many bytes a second arrive.
    private var lastCredit: Int64
    private var credit: Int64 = 0

    private let renewals: Int
    var isOutdated: Bool { renewals != process.renewals }

    init(_ process: SimulatedProcess, _ name: String) {
        (self.process, self.name, renewals) = (process, name, process.renewals)
        lastCredit = process.broker.now
    }

    var broker: SimulatedBroker { process.broker }
    var outstanding: Int { broker.wrong == .unsettledLooksSettled ? 0 : queue.count }
    /// nil = no transactions.
    var epoch: Int? { nil }

    /// Whether a call takes place at all.
    func enters() throws(KafkaFault) {
        guard process.enter(mayWait: true) else { throw .ofDeadProcess }
        if isDiscarded { process.violate("uses a producer that it has discarded") }
        if let fatalFault { throw fatalFault }
    }

    func know(_ counts: [String: Int32]) {}
    func connect(limit milliseconds: Int) {}

    func produce(_ records: ArraySlice<OutboundRecord>) throws(KafkaFault) -> Int {
        try enters()
        // A record that is not taken poisons nothing: the library would commit without it.
        if !records.isEmpty, process.strikes(.produceFault, process.chances.produceFault) {
            queue += records.prefix(process.random.below(records.count))
            // Without transactions it may be the configuration's fault, and ends the process.
            if epoch == nil { process.mayEnd = true }
            throw KafkaFault(.unknownPartition, "a record was not taken").with(isFatal: false, requiresAbort: true)
        }
        if let refused = records.firstIndex(where: isRefused) {
            queue += records[..<refused]
            throw refusal(of: records[refused])
        }
        let isFull = !records.isEmpty && process.strikes(.queueFull, process.chances.client.queueFull)
        let taken = records.prefix(isFull ? process.random.below(records.count) : records.count)
        queue += taken
        return taken.count
    }

    /// `message.max.bytes`.
    private static let mostBytes = 1_000_000

    /// The library takes no record that is too large, or of a partition that its topic does not have.
    private func isRefused(_ record: OutboundRecord) -> Bool {
        isTooLarge(record) || (record.stream != .replies && !broker.partitions.contains(record.partition))
    }

    private func isTooLarge(_ record: OutboundRecord) -> Bool {
        (record.key?.count ?? 0) + (record.value?.count ?? 0) > Self.mostBytes && broker.wrong != .takesLargeRecords
    }

    private func refusal(of record: OutboundRecord) -> KafkaFault {
        isTooLarge(record)
            ? KafkaFault(.msgSizeTooLarge, "a record is too large")
            : KafkaFault(.unknownPartition, "partition \(record.partition) is unknown")
    }

    func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        try enters()
        let isShort = process.chances.retriable > 0 && process.chance(0.1)
        deliver(most: isShort ? process.random.below(queue.count + 1) : queue.count)
        if let fatalFault { throw fatalFault }
        if !queue.isEmpty { process.wait?(min(milliseconds, 50)) }
        return queue.isEmpty
    }

    func serve(limit milliseconds: Int) {
        guard process.enter(mayWait: true), !isDiscarded, fatalFault == nil else { return }
        if process.chance(0.5) { deliver(most: process.random.below(queue.count + 1)) }
        process.wait?(milliseconds)
    }

    func forgetDeliveries() { deliveries = DeliverySummary() }

    func discard() {
        guard !isDiscarded else { return }
        isDiscarded = true
        guard !process.isDead else { return }
        let left = queue
        queue = []
        if broker.wrong == .discardedArrive { for record in left { try? broker.produce(name, epoch: nil, record) } }
        guard !process.forgetClient(), !left.isEmpty else { return }
        arriveLate(left)
    }

    /// What a discarded producer had under way. Without transactions a repeated answer is allowed, and the check of answers
    /// counts them: only the ledger's records come late.
    func arriveLate(_ records: [OutboundRecord]) {
        broker.arriveLater(after: 1 + Int64(process.random.below(15_000))) { [broker, name] in
            for record in records where record.stream == .ledger {
                broker.lateFacts[record.key ?? [], default: []].append(record.value)
                try? broker.produce(name, epoch: nil, record)
            }
        }
    }

    // MARK: deliveries

    func deliver(most: Int) {
        guard mayDeliver() else { return }
        var left = most
        addCredit()
        while left > 0, !queue.isEmpty, fatalFault == nil {
            guard hasCredit(for: queue[0]) else { return broker.counts.add(.throttled) }
            deliver(queue.removeFirst())
            left -= 1
        }
    }

    /// Whether the partitions are known to take part in the transaction.
    func mayDeliver() -> Bool {
        guard !queue.isEmpty else { return false }
        guard process.strikes(.halfFlushed, process.chances.indefinite) else { return true }
        // Some arrive and the outcome of the others is unknown; the broker takes what follows them all the same.
        for _ in 0..<process.random.below(queue.count) { deliver(queue.removeFirst()) }
        fail(queue.count, KafkaFault(.msgTimedOut, "records were not acknowledged in time"))
        // Facts may be on their way still; a mark follows them only once they have arrived.
        if epoch == nil, process.chance(0.5) { arriveLate(queue.filter { $0.key != [4] }) }
        queue = []
        return false
    }

    private func deliver(_ record: OutboundRecord) {
        // Without transactions one batch at a time is on its way, so that none overtakes another.
        if epoch != nil, process.strikes(.ackWithoutOffset, process.chances.client.ackWithoutOffset) {
            deliveries.withoutOffset += 1
            return
        }
        let offset = Int64(broker.log(record.stream, record.partition).highWatermark)
        do throws(BrokerRefusal) {
            try broker.produce(name, epoch: epoch, record, of: process.groupID)
            deliveries.acknowledged += 1
            guard record.stream == .ledger, broker.wrong != .ledgerOffsetsAreHidden else { return }
            deliveries.firstLedgerOffsets[record.partition] =
                min(deliveries.firstLedgerOffsets[record.partition] ?? offset, offset)
            deliveries.lastLedgerOffsets[record.partition] = offset
            if broker.tellsLedgerTimes { deliveries.ledgerTime = broker.time }
        } catch { refused(error) }
    }

    /// The broker's answer to a record.
    func refused(_ refusal: BrokerRefusal) {
        switch refusal {
        case .fencedProducer:
            broker.counts.add(.fencedProducer)
            process.mayEnd = true
            let fault = KafkaFault(.fenced, "another producer has the transactional id \(name)")
            fatalFault = fault
            fail(1 + queue.count, fault)
            queue = []
        case .staleGeneration, .refusedRecord:
            broker.counts.add(.recordFault)
            fail(1, KafkaFault(.msgSizeTooLarge, "the broker refuses a record"))
        }
    }

    func fail(_ count: Int, _ fault: KafkaFault) {
        deliveries.failed += count
        deliveries.firstFault = deliveries.firstFault ?? fault
    }

    private func addCredit() {
        credit = min(process.chances.client.bytesPerSecond, credit)
        credit += process.chances.client.bytesPerSecond * (broker.now - lastCredit) / 1_000
        lastCredit = broker.now
    }

    private func hasCredit(for record: OutboundRecord) -> Bool {
        guard process.chances.client.bytesPerSecond > 0 else { return true }
        guard credit > 0 else { return false }
        credit -= Int64((record.key?.count ?? 0) + (record.value?.count ?? 0) + 70)
        return true
    }
}
