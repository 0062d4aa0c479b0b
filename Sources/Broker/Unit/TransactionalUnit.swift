internal import Dispatch
internal import Kafka
internal import KafkaPorts
internal import Log
internal import Settings

/// Exactly once: outputs, ledger and offsets of a batch in one Kafka transaction.
///
/// The producer is discarded after everything that leaves its state in doubt, a fatal abort among it, and after a
/// commit or an abort with a request unanswered on the wire: a late copy from a discarded producer has an old epoch,
/// which the broker refuses. Discarding is an ordinary way out; only two live processes with one name are an error.
final class TransactionalUnit: BrokerUnit {
    private let settings: BrokerSettings
    private let transactionalID: String
    private let rights: AccessRights
    private var producer: TransactionalProducer?
    /// A producer that is still taking over the id.
    private var preparing: TransactionalProducer?
    private var isOpen = false
    private var isConnected = false
    /// Whether it is unknown if a transaction was committed.
    private var isInDoubt = false
    private var fencings: Fencings
    private(set) var ledgerEnds: [Int32: Int64] = [:]
    var knownLedgerEnds: [Int32: Int64] = [:]
    private(set) var cutLedgers: Set<Int32> = []
    private(set) var timeShare = 0.0
    weak var owner: (any UnitOwner)?
    var partitionCounts: [String: Int32] = [:] { didSet { producer?.know(partitionCounts) } }
    private let unitMilliseconds: Int
    private var progress: UnitProgress?
    private let bell: GroupBell
    /// Where units are written; while one is, everything of this object belongs to it but ``written``.
    let writer = DispatchQueue(label: "writer", qos: .userInitiated)
    /// Set and cleared on the loop's thread, while the writer is idle.
    var written: WrittenUnit?

    init(_ settings: BrokerSettings, _ bell: GroupBell = GroupBell()) throws(KafkaFault) {
        self.settings = settings
        self.bell = bell
        unitMilliseconds = try settings.unitMilliseconds()
        transactionalID = try settings.stableID()
        rights = try AccessRights(settings)
        fencings = .ofUnit(isStaticMember: settings.membership == .static)
    }

    var isAtomic: Bool { true }

    /// Takes over the transactional id: a predecessor's open transaction is aborted, its committed ones stand.
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
        connect(fresh)
        producer = fresh
        isInDoubt = false
    }

    /// Before the first batch, which would wait for the connections; a later producer must not keep the loop.
    private func connect(_ fresh: TransactionalProducer) {
        guard !isConnected, !partitionCounts.isEmpty else { return }
        isConnected = true
        // One slice for all of them, and a share for each: the group is not served meanwhile.
        var patience = Patience(milliseconds: Self.sliceMilliseconds, isStopping: settings.isStopping)
        let topics = settings.topics.outputs.values.sorted()
        for (index, topic) in topics.enumerated() {
            guard let left = patience.all() else { return }
            fresh.connect(to: [topic], timeoutMilliseconds: max(1, left / (topics.count - index)))
        }
    }

    /// A request for the id that got no answer may arrive late and fence whichever process has the id then.
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

    /// Being fenced passes; every other permanent fault lies in the configuration and would come again on every try.
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
        cutLedgers = []
        // A copy may have been sent after the last unit ended.
        discardAfterRepeats()
        try prepareNow()
        let patience = Patience(milliseconds: unitMilliseconds, isStopping: settings.isStopping)
        progress = UnitProgress(patience, producer?.deliveries ?? DeliveryCounts())
        try call { producer throws(KafkaFault) in try producer.begin() }
        isOpen = true
    }

    /// Takes over the id in slices, serving the group in between.
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
                throw KafkaFault.fatal("no topic is set for \(record.stream.rawValue)")
            }
            let headers = record.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
            // Waits only for a full queue.
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

    /// The outputs go first: offsets sent before them would wait behind megabytes on the same connection, and while
    /// only outputs are in flight nothing is in doubt.
    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws {
        let offsets = PartitionOffset.own(positions)
        try write(offsets, topic: consumer.topic, as: member)
        try commitAside(offsets, of: consumer)
    }

    /// Everything that needs no consumer.
    func write(_ offsets: [PartitionOffset], topic: String, as member: GroupMetadata) throws {
        #if DEBUG
            if settings.sabotage == .offsetsBeforeFlush { try send(offsets, topic: topic, as: member, all: false) }
        #endif
        try repeatedly { producer, timeout throws(KafkaFault) in try producer.flush(timeoutMilliseconds: timeout) }
        try requireWholeLedger()
        guard !bell.isLost else { throw KafkaFault.stale("the assignment was lost") }
        try send(offsets, topic: topic, as: member)
        // From here on a fault leaves it open whether the unit is durable.
        isInDoubt = true
        try repeatedly { producer, timeout throws(KafkaFault) in try producer.commit(timeoutMilliseconds: timeout) }
        isInDoubt = settings.commitsOffsetsAside
        isOpen = false
        ledgerEnds = (producer?.deliveredOffsets ?? [:]).mapValues { $0 + 1 }
        timeShare = progress?.patience.used ?? 0
        discardAfterRepeats()
    }

    /// For a broker that drops the offsets of a transaction.
    func commitAside(_ offsets: [PartitionOffset], of consumer: Consumer) throws {
        guard settings.commitsOffsetsAside else { return }
        try consumer.commit(offsets, timeoutMilliseconds: settings.commitMilliseconds) {
            serveGroup()
            return true
        }
        isInDoubt = false
    }

    /// Every record has arrived, so its offset is known.
    private func requireWholeLedger() throws {
        cutLedgers = cut(producer?.firstDeliveredOffsets ?? [:])
        // Whatever the abort does, everything is asked for again.
        if !cutLedgers.isEmpty { isInDoubt = true }
        try requireWhole(cutLedgers)
    }

    /// One call with all the time left: a call cut into slices leaves a request behind with each slice.
    private func send(
        _ offsets: [PartitionOffset],
        topic: String,
        as member: GroupMetadata,
        all: Bool = true
    ) throws {
        try repeatedly(all: all) { producer, timeout throws(KafkaFault) in
            try producer.sendOffsets(offsets, topic: topic, member, timeoutMilliseconds: timeout) {
                serveGroup()
                return progress?.patience.isCutShort() == false
            }
        }
    }

    func drop() throws -> UnitEnd {
        guard let producer, producer.fatalFault == nil, !isInDoubt else { return renew() }
        guard isOpen else { return .dropped }
        do {
            try producer.abort(timeoutMilliseconds: settings.abortMilliseconds, serve: serveGroup)
            isOpen = false
        } catch {
            // It could not be aborted in order, or a request is unanswered: the next owner of the id aborts it.
            return renew()
        }
        discardAfterRepeats()
        return .dropped
    }

    func close() {
        // Waits for the unit that the writer still has; its calls give up soon, since the bell rings.
        writer.sync {}
        written = nil
        preparing = nil
        discard()
    }

    /// The id is taken over again when it is needed: an abort does not wait for that.
    private func renew() -> UnitEnd {
        discard()
        return .unknown
    }

    private func discard() {
        // The records it still holds were committed or are to be dropped; there is nothing to wait for.
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

    /// Repeats a call with the same arguments while a retry may help and the unit's time lasts.
    ///
    /// - Parameter all: the call checks for a stop and serves the group itself, and may take all the time left.
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
                // A short pause, so that a call that fails at once is not repeated at once.
                producer?.poll(timeoutMilliseconds: 20)
            }
        }
        throw withProgress(.timedOut("the transaction was not committed in time", requiresAbort: true))
    }

    private func withProgress(_ fault: KafkaFault) -> KafkaFault {
        progress?.added(to: fault, producer?.deliveries ?? DeliveryCounts()) ?? fault
    }

    private func call(_ body: (TransactionalProducer) throws(KafkaFault) -> Void) throws {
        do throws(KafkaFault) {
            guard let producer else { throw .stale("there is no producer") }
            try body(producer)
        } catch { throw try judged(error) }
    }

    /// The fault for the loop: the unit is aborted, unless the fault needs an operator.
    private func judged(_ fault: KafkaFault) throws -> KafkaFault {
        if fault.isRefusal { return rights.explained(fault).judged(isFatal: true, requiresAbort: false) }
        if fault.isFenced { try noteFencing(fault) }
        // Neither abortable nor retriable: the library's header asks to treat it as fatal.
        if fault.isFatal || !fault.requiresAbort { isInDoubt = true }
        return withProgress(fault.judged(isFatal: false, requiresAbort: true))
    }

    /// A pause longer than the transaction's time-out looks, once, the same as another process with this name.
    private func noteFencing(_ fault: KafkaFault) throws {
        guard !fencings.note() else { return }
        throw KafkaFault.fatal(
            "another process uses the transactional id \(transactionalID) (\(fault.message)): give every instance of the "
                + "group a name of its own with --instance"
        )
    }
}
