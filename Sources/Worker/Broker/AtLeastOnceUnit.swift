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
    var knownLedgerEnds: [Int32: Int64] = [:]
    private(set) var cutLedgers: Set<Int32> = []
    /// How far our own ledger records have come. Others' may lie between them, so a restore does not begin there.
    private var ownEnds: [Int32: Int64] = [:]
    private(set) var timeShare = 0.0
    var serveGroup: () -> Void = {}
    var partitionCounts: [String: Int32] = [:] { didSet { producer.know(partitionCounts) } }
    private let unitMilliseconds: Int
    private var progress: UnitProgress

    var isAtomic: Bool { false }

    init(_ settings: BrokerSettings) throws(KafkaFault) {
        self.settings = settings
        unitMilliseconds = try settings.unitMilliseconds()
        progress = UnitProgress(Patience(milliseconds: 0, isStopping: settings.isStopping), DeliveryCounts())
        rights = try AccessRights(settings)
        producer = try Self.producer(settings)
    }

    private static func producer(_ settings: BrokerSettings) throws(KafkaFault) -> Producer {
        try Producer(settings.producerProperties(), trackedTopic: settings.topics.outputs[.ledger])
    }

    func prepare(timeoutMilliseconds: Int) {}

    func begin() {
        (ledger, cutLedgers) = ([], [])
        producer.forgetDelivered()
        let patience = Patience(milliseconds: unitMilliseconds, isStopping: settings.isStopping)
        progress = UnitProgress(patience, producer.deliveries)
    }

    func append(_ records: [OutboundRecord]) throws {
        progress.append(records.count)
        ledger += records.filter { $0.stream == .ledger }
        try send(records.filter { $0.stream != .ledger })
    }

    private func send(_ records: [OutboundRecord]) throws {
        for record in records {
            guard let topic = settings.topics.outputs[record.stream] else {
                throw KafkaFault.fatal("no topic is named for \(record.stream.rawValue)")
            }
            let headers = record.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
            try repeatedly(while: \.isQueueFull) { timeout throws(KafkaFault) in
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

    func commit(_ positions: [PartitionPosition], of consumer: Consumer, as member: GroupMetadata) throws {
        try flush()
        try send(ledger)
        if !ledger.isEmpty { try flush() }
        ledger = []
        knownLedgerEnds.merge(ownEnds, uniquingKeysWith: max)
        cutLedgers = cut(producer.firstDeliveredOffsets)
        if !cutLedgers.isEmpty { try takeMarksBack() }
        try requireWhole(cutLedgers)
        ownEnds.merge(producer.deliveredOffsets.mapValues { $0 + 1 }, uniquingKeysWith: max)
        try consumer.commit(PartitionOffset.own(positions), timeoutMilliseconds: progress.patience.all() ?? 1) {
            serveGroup()
            return !progress.patience.isCutShort()
        }
        timeShare = progress.patience.used
    }

    /// The marks that were just written would make a ledger that has lost its facts look whole.
    private func takeMarksBack() throws {
        let (key, value) = LedgerCodec.encode(.markForgotten)
        try send(
            cutLedgers.sorted().map { partition in
                OutboundRecord(
                    stream: .ledger,
                    partition: partition,
                    sourceOffset: -1,
                    sourceTimestamp: -1,
                    key: key,
                    value: value
                )
            }
        )
        try flush()
    }

    private func flush() throws {
        try repeatedly(while: \.isTimeout) { timeout throws(KafkaFault) in
            try producer.flush(timeoutMilliseconds: timeout)
        }
    }

    /// Repeats a call in slices, with the group served in between, while its fault says so and the unit's time lasts.
    private func repeatedly(
        while mayRepeat: (KafkaFault) -> Bool,
        _ body: (Int) throws(KafkaFault) -> Void
    ) throws {
        while true {
            // Past the unit's time the call still says what is wrong.
            let timeout = progress.patience.next()
            do throws(KafkaFault) {
                return try body(timeout ?? 0)
            } catch {
                guard mayRepeat(error), producer.fatalFault == nil, timeout != nil else { throw mendable(error) }
                serveGroup()
            }
        }
    }

    /// Outputs under way get a moment to end in order; a producer that cannot end them is replaced.
    ///
    /// What the ledger topic has got of the unit is not known here, so it is read again.
    func abort() throws -> UnitEnd {
        ledger = []
        var left = settings.abortMilliseconds
        while left > 0, producer.outstanding > 0 {
            // A delivery that failed is no news: its unit is the one being given up.
            try? producer.flush(timeoutMilliseconds: min(left, Self.sliceMilliseconds))
            left -= Self.sliceMilliseconds
            serveGroup()
        }
        if producer.outstanding > 0 || producer.fatalFault != nil {
            producer = try Self.producer(settings)
            producer.know(partitionCounts)
        }
        return .unknown
    }

    private static let sliceMilliseconds = 250

    func close() {
        // What was committed has been flushed; the rest is nobody's.
        try? producer.flush(timeoutMilliseconds: settings.abortMilliseconds)
    }

    /// A broken producer is replaced by ``abort()``, and a record that is not taken is searched for; what the broker
    /// refuses for good stays refused.
    private func mendable(_ fault: KafkaFault) -> KafkaFault {
        let mends = (fault.isRetriable || fault.isRecordFault || producer.fatalFault != nil) && !fault.isRefusal
        let judged = rights.explained(fault).judged(isFatal: !mends, requiresAbort: mends)
        return progress.told(judged, producer.deliveries)
    }
}
