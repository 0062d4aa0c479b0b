internal import Kafka
internal import Pipeline

/// Exactly once: outputs, ledger and offsets of a batch in one Kafka transaction.
///
/// The producer is thrown away after everything that leaves its state in doubt, a fatal abort and a commit that had to be
/// repeated among it: a late request of a renewed producer can hit nothing (its epoch is over). That is an ordinary way
/// out, not an error; only two living processes with one name are.
final class TransactionalUnit: OutputUnit {
    private let settings: BrokerSettings
    private let transactionalID: String
    private let rights: AccessRights
    private var producer: TransactionalProducer?
    private var isOpen = false
    /// Whether a transaction may or may not have been committed.
    private var isInDoubt = false
    private var fencings = Fencings()
    private(set) var ledgerEnds: [Int32: Int64] = [:]

    init(_ settings: BrokerSettings) throws(KafkaFault) {
        self.settings = settings
        transactionalID = try settings.stableID()
        rights = try AccessRights(settings)
    }

    var isAtomic: Bool { true }

    /// Takes the transactional id over: what a predecessor left open is aborted, what it had committed stands.
    func prepare() throws {
        guard producer == nil else { return }
        let fresh = try TransactionalProducer(
            settings.transactionalProperties(),
            transactionalID: transactionalID,
            trackedTopic: settings.topics.outputs[.ledger]
        )
        do throws(KafkaFault) {
            try fresh.initTransactions(timeoutMilliseconds: settings.prepareMilliseconds)
        } catch {
            throw error.isRefusal ? rights.explained(error) : error.judged(isFatal: false, requiresAbort: true)
        }
        producer = fresh
        isInDoubt = false
    }

    func begin() throws {
        try prepare()
        try call { producer throws(KafkaFault) in try producer.begin() }
        isOpen = true
    }

    func append(_ records: [OutboundRecord]) throws {
        for record in records {
            guard let topic = settings.topics.outputs[record.stream] else {
                throw KafkaFault.fatal("no topic is named for \(record.stream.rawValue)")
            }
            try call { producer throws(KafkaFault) in
                try producer.produce(
                    topic: topic,
                    partition: record.partition,
                    key: record.key,
                    value: record.value,
                    headers: record.headers.map { KafkaHeader(name: $0.name, value: $0.value) },
                    patienceMilliseconds: settings.commitMilliseconds
                )
            }
        }
    }

    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws {
        let offsets = positions.map { PartitionOffset(partition: $0.partition, offset: $0.offset) }
        var patience = Patience(milliseconds: settings.commitMilliseconds, isStopping: settings.isStopping)
        let wasSentAtOnce = try repeatedly(&patience) { producer, timeout throws(KafkaFault) in
            try producer.sendOffsets(offsets, topic: consumer.topic, member, timeoutMilliseconds: timeout)
        }
        // From here on a fault leaves open whether everything is durable.
        isInDoubt = true
        let wasCommittedAtOnce = try repeatedly(&patience) { producer, timeout throws(KafkaFault) in
            try producer.commit(timeoutMilliseconds: timeout)
        }
        isInDoubt = false
        isOpen = false
        ledgerEnds = (producer?.deliveredOffsets ?? [:]).mapValues { $0 + 1 }
        if !wasSentAtOnce || !wasCommittedAtOnce { discard() }
        if settings.commitsOffsetsAside {
            try consumer.commit(offsets, timeoutMilliseconds: settings.commitMilliseconds)
        }
    }

    func abort() throws -> UnitEnd {
        guard let producer, producer.fatalFault == nil, !isInDoubt else { return try renew() }
        guard isOpen else { return .dropped }
        do {
            try producer.abort(timeoutMilliseconds: settings.abortMilliseconds)
            isOpen = false
            return .dropped
        } catch {
            // It could not be aborted in order: the next owner of the id aborts it.
            return try renew()
        }
    }

    func close() {
        discard()
    }

    private func renew() throws -> UnitEnd {
        discard()
        try prepare()
        return .unknown
    }

    private func discard() {
        // What it still holds was committed or is to be dropped; nothing is waited for.
        producer?.purge()
        producer = nil
        isOpen = false
    }

    /// Repeats a call with the same arguments while that may help.
    ///
    /// - Returns: whether the first one succeeded.
    private func repeatedly(
        _ patience: inout Patience,
        _ body: (TransactionalProducer, Int) throws(KafkaFault) -> Void
    ) throws -> Bool {
        var wasFirst = true
        while let timeout = patience.next() {
            do throws(KafkaFault) {
                guard let producer else { throw .stale("there is no producer") }
                try body(producer, timeout)
                return wasFirst
            } catch {
                guard error.isRetriable, !error.isFatal, !error.requiresAbort else { throw try judged(error) }
                wasFirst = false
            }
        }
        isInDoubt = true
        throw KafkaFault.timedOut("the transaction was not committed in time", requiresAbort: true)
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
        return fault.judged(isFatal: false, requiresAbort: true)
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
