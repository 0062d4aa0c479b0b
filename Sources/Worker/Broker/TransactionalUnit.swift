internal import Kafka
internal import Pipeline

/// Exactly once: outputs, ledger and offsets of a batch in one Kafka transaction.
///
/// The producer is thrown away after everything that leaves its state in doubt, a fatal abort among it, and after a commit
/// or an abort that leaves a request unanswered on the wire: a late copy of a renewed producer's request can hit nothing
/// (its epoch is over). That is an ordinary way out, not an error; only two living processes with one name are.
final class TransactionalUnit: OutputUnit {
    private let settings: BrokerSettings
    private let transactionalID: String
    private let rights: AccessRights
    private var producer: TransactionalProducer?
    /// One that is still taking the id over.
    private var preparing: TransactionalProducer?
    private var isOpen = false
    /// Whether a transaction may or may not have been committed.
    private var isInDoubt = false
    private var fencings = Fencings()
    private(set) var ledgerEnds: [Int32: Int64] = [:]
    var knownLedgerEnds: [Int32: Int64] = [:]
    private(set) var cutLedgers: Set<Int32> = []
    private(set) var timeShare = 0.0
    var serveGroup: () -> Void = {}
    var partitionCounts: [String: Int32] = [:] { didSet { producer?.know(partitionCounts) } }
    private let unitMilliseconds: Int
    private var progress: UnitProgress?

    init(_ settings: BrokerSettings) throws(KafkaFault) {
        self.settings = settings
        unitMilliseconds = try settings.unitMilliseconds()
        transactionalID = try settings.stableID()
        rights = try AccessRights(settings)
    }

    var isAtomic: Bool { true }

    /// Takes the transactional id over: what a predecessor left open is aborted, what it had committed stands.
    func prepare(timeoutMilliseconds: Int) throws {
        guard producer == nil else { return }
        let fresh = if let preparing { preparing } else { try makeProducer() }
        preparing = fresh
        do throws(KafkaFault) {
            try fresh.initTransactions(timeoutMilliseconds: timeoutMilliseconds)
        } catch {
            if error.isRetriable, !error.isFatal, !error.requiresAbort { throw error }
            forgetPreparing()
            throw judgedTakeover(error)
        }
        forgetPreparing()
        fresh.know(partitionCounts)
        producer = fresh
        isInDoubt = false
    }

    /// A request for the id that was not answered may come late, and fence whoever has it then.
    private func forgetPreparing() {
        fencings.excuse(preparing?.unansweredInits ?? 0)
        preparing = nil
    }

    private func makeProducer() throws(KafkaFault) -> TransactionalProducer {
        try TransactionalProducer(
            settings.transactionalProperties(),
            transactionalID: transactionalID,
            trackedTopic: settings.topics.outputs[.ledger]
        )
    }

    /// Being fenced passes; any other fault for good is the configuration's, and would come again for ever.
    private func judgedTakeover(_ fault: KafkaFault) -> KafkaFault {
        if fault.isFenced { return fault.judged(isFatal: false, requiresAbort: true) }
        guard fault.isTransactionTimeout else {
            return rights.explained(fault).judged(isFatal: true, requiresAbort: false)
        }
        return fault.saying(
            "\(fault.message): transaction.timeout.ms in kafka.properties is above the broker's "
                + "transaction.max.timeout.ms; lower it"
        )
        .judged(isFatal: true, requiresAbort: false)
    }

    func begin() throws {
        // A copy may have been sent after the last unit had ended.
        discardAfterRepeats()
        try prepareNow()
        let patience = Patience(milliseconds: unitMilliseconds, isStopping: settings.isStopping)
        progress = UnitProgress(patience, producer?.deliveries ?? DeliveryCounts())
        try call { producer throws(KafkaFault) in try producer.begin() }
        isOpen = true
        cutLedgers = []
    }

    /// Takes the id over in slices, between which the group is served.
    private func prepareNow() throws {
        var patience = Patience(milliseconds: settings.prepareMilliseconds, isStopping: settings.isStopping)
        while producer == nil {
            let timeout = min(patience.next() ?? 1, Self.sliceMilliseconds)
            do {
                return try prepare(timeoutMilliseconds: timeout)
            } catch let fault as KafkaFault where fault.isRetriable {
                guard patience.next() != nil else { throw fault.judged(isFatal: false, requiresAbort: true) }
            }
            serveGroup()
        }
    }

    private static let sliceMilliseconds = 250

    func append(_ records: [OutboundRecord]) throws {
        progress?.append(records.count)
        for record in records {
            guard let topic = settings.topics.outputs[record.stream] else {
                throw KafkaFault.fatal("no topic is named for \(record.stream.rawValue)")
            }
            let headers = record.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
            // Only a full queue is waited for.
            try repeatedly { producer, timeout throws(KafkaFault) in
                try producer.produce(
                    topic: topic,
                    partition: record.partition,
                    key: record.key,
                    value: record.value,
                    headers: headers,
                    patienceMilliseconds: timeout
                )
            }
        }
    }

    /// The outputs first: offsets that are sent before them wait behind megabytes on the same connection, and nothing is
    /// in doubt while only outputs are under way.
    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws {
        let offsets = PartitionOffset.own(positions)
        #if DEBUG
            if settings.sabotage == .offsetsBeforeFlush { try send(offsets, of: consumer, as: member, all: false) }
        #endif
        try repeatedly { producer, timeout throws(KafkaFault) in try producer.flush(timeoutMilliseconds: timeout) }
        try requireWholeLedger()
        try send(offsets, of: consumer, as: member)
        // From here on a fault leaves open whether everything is durable.
        isInDoubt = true
        try repeatedly { producer, timeout throws(KafkaFault) in try producer.commit(timeoutMilliseconds: timeout) }
        isInDoubt = false
        isOpen = false
        ledgerEnds = (producer?.deliveredOffsets ?? [:]).mapValues { $0 + 1 }
        timeShare = progress?.patience.used ?? 0
        discardAfterRepeats()
        if settings.commitsOffsetsAside {
            try consumer.commit(offsets, timeoutMilliseconds: settings.commitMilliseconds) {
                serveGroup()
                return true
            }
        }
    }

    /// Everything has arrived: where it lies is known.
    private func requireWholeLedger() throws {
        cutLedgers = cut(producer?.firstDeliveredOffsets ?? [:])
        // Whatever the abort does, everything is asked anew.
        if !cutLedgers.isEmpty { isInDoubt = true }
        try requireWhole(cutLedgers)
    }

    /// One call with all the time that is left: a call that is cut into slices leaves a request behind with each of them.
    private func send(
        _ offsets: [PartitionOffset],
        of consumer: Consumer,
        as member: GroupMetadata,
        all: Bool = true
    ) throws {
        try repeatedly(all: all) { producer, timeout throws(KafkaFault) in
            try producer.sendOffsets(offsets, topic: consumer.topic, member, timeoutMilliseconds: timeout) {
                serveGroup()
                return progress?.patience.isCutShort() == false
            }
        }
    }

    func abort() throws -> UnitEnd {
        guard let producer, producer.fatalFault == nil, !isInDoubt else { return renew() }
        guard isOpen else { return .dropped }
        do {
            try producer.abort(timeoutMilliseconds: settings.abortMilliseconds, serve: serveGroup)
            isOpen = false
        } catch {
            // It could not be aborted in order: the next owner of the id aborts it.
            return renew()
        }
        discardAfterRepeats()
        return .dropped
    }

    func close() {
        preparing = nil
        discard()
    }

    /// The id is taken over again when it is needed: an abort does not wait for that.
    private func renew() -> UnitEnd {
        discard()
        return .unknown
    }

    private func discard() {
        // What it still holds was committed or is to be dropped; nothing is waited for.
        producer?.purge()
        producer = nil
        isOpen = false
    }

    private func discardAfterRepeats() {
        #if DEBUG
            if settings.sabotage == .producerKeptAfterRepeat { return }
        #endif
        if producer?.mayHaveRepeats == true { discard() }
    }

    /// Repeats a call with the same arguments while that may help and the unit's time lasts.
    ///
    /// - Parameter all: the call sees to the stop and the group by itself, and may take all that is left.
    private func repeatedly(
        all: Bool = false,
        _ body: (TransactionalProducer, Int) throws(KafkaFault) -> Void
    ) throws {
        while let timeout = all ? progress?.patience.all() : progress?.patience.next() {
            do throws(KafkaFault) {
                guard let producer else { throw .stale("there is no producer") }
                return try body(producer, timeout)
            } catch {
                guard error.isRetriable, !error.isFatal, !error.requiresAbort else { throw try judged(error) }
                serveGroup()
                // A call that fails at once is not asked again at once.
                producer?.poll(timeoutMilliseconds: 20)
            }
        }
        throw told(.timedOut("the transaction was not committed in time", requiresAbort: true))
    }

    private func told(_ fault: KafkaFault) -> KafkaFault {
        progress?.told(fault, producer?.deliveries ?? DeliveryCounts()) ?? fault
    }

    private func call(_ body: (TransactionalProducer) throws(KafkaFault) -> Void) throws {
        do throws(KafkaFault) {
            guard let producer else { throw .stale("there is no producer") }
            try body(producer)
        } catch { throw try judged(error) }
    }

    /// What the loop is told: the unit is to be aborted, unless somebody has to look.
    private func judged(_ fault: KafkaFault) throws -> KafkaFault {
        if fault.isRefusal { return rights.explained(fault).judged(isFatal: true, requiresAbort: false) }
        if fault.isFenced { try noteFencing(fault) }
        // Neither abortable nor to be repeated: the library's header asks to take it as fatal.
        if fault.isFatal || !fault.requiresAbort { isInDoubt = true }
        return told(fault.judged(isFatal: false, requiresAbort: true))
    }

    /// A pause longer than the transaction's time-out looks the same as another process with this name, once.
    private func noteFencing(_ fault: KafkaFault) throws {
        guard !fencings.note() else { return }
        throw KafkaFault.fatal(
            "another process uses the transactional id \(transactionalID) (\(fault.message)): give every instance of the "
                + "group a name of its own with --instance"
        )
    }
}
