internal import Kafka
internal import Pipeline

/// At least once: outputs are acknowledged by all replicas first, then the offsets are committed.
///
/// A crash in between, or an abort, leaves outputs behind that are written again. The ledger is written when the outputs
/// have arrived, with the applied offset behind all that was applied: what it knows was answered.
final class AtLeastOnceUnit: OutputUnit {
    private let settings: BrokerSettings
    private let rights: AccessRights
    private var producer: Producer
    private var ledger: [OutboundRecord] = []
    let ledgerEnds: [Int32: Int64] = [:]

    var isAtomic: Bool { false }

    init(_ settings: BrokerSettings) throws(KafkaFault) {
        self.settings = settings
        rights = try AccessRights(settings)
        producer = try Producer(settings.producerProperties())
    }

    func prepare() {}

    func begin() { ledger = [] }

    func append(_ records: [OutboundRecord]) throws {
        ledger += records.filter { $0.stream == .ledger }
        try send(records.filter { $0.stream != .ledger })
    }

    private func send(_ records: [OutboundRecord]) throws {
        for record in records {
            guard let topic = settings.topics.outputs[record.stream] else {
                throw KafkaFault.fatal("no topic is named for \(record.stream.rawValue)")
            }
            do {
                try producer.produce(
                    topic: topic,
                    partition: record.partition,
                    key: record.key,
                    value: record.value,
                    headers: record.headers.map { KafkaHeader(name: $0.name, value: $0.value) },
                    patienceMilliseconds: settings.commitMilliseconds
                )
            } catch {
                throw mendable(error)
            }
        }
    }

    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws {
        try flush()
        try send(ledger)
        if !ledger.isEmpty { try flush() }
        ledger = []
        let offsets = positions.map { PartitionOffset(partition: $0.partition, offset: $0.offset) }
        try consumer.commit(offsets, timeoutMilliseconds: settings.commitMilliseconds)
    }

    private func flush() throws {
        var patience = Patience(milliseconds: settings.commitMilliseconds, isStopping: settings.isStopping)
        while true {
            do throws(KafkaFault) {
                return try producer.flush(timeoutMilliseconds: patience.next() ?? 0)
            } catch {
                guard error.isTimeout, producer.fatalFault == nil, patience.next() != nil else { throw mendable(error) }
            }
        }
    }

    /// Outputs under way get a moment to end in order; a producer that cannot end them is replaced.
    ///
    /// What the ledger topic has got of the unit is not known here, so it is read again.
    func abort() throws -> UnitEnd {
        ledger = []
        // A delivery that failed is no news: its unit is the one being given up.
        try? producer.flush(timeoutMilliseconds: settings.abortMilliseconds)
        if producer.outstanding > 0 || producer.fatalFault != nil {
            producer = try Producer(settings.producerProperties())
        }
        return .unknown
    }

    func close() {
        // What was committed has been flushed; the rest is nobody's.
        try? producer.flush(timeoutMilliseconds: settings.abortMilliseconds)
    }

    /// A broken producer is replaced by ``abort()``, and a record that is not taken is searched for; what the broker
    /// refuses for good stays refused.
    private func mendable(_ fault: KafkaFault) -> KafkaFault {
        let mends = (fault.isRetriable || fault.isRecordFault || producer.fatalFault != nil) && !fault.isRefusal
        return rights.explained(fault).judged(isFatal: !mends, requiresAbort: mends)
    }
}
