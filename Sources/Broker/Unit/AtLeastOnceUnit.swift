internal import Kafka
internal import KafkaPorts
internal import Log
internal import Pipeline
internal import Settings

/// At least once: outputs are acknowledged by all replicas first, then the offsets are committed.
///
/// A crash in between, or an abort, leaves outputs that are written again. The ledger is written once the outputs have
/// arrived, with the applied offset last: every request that the ledger knows was answered.
final class AtLeastOnceUnit: BrokerUnit {
    private let settings: BrokerSettings
    private let rights: AccessRights
    private var producer: Producer
    private var ledger: [OutboundRecord] = []
    let ledgerEnds: [Int32: Int64] = [:]
    var knownLedgerEnds: [Int32: Int64] = [:]
    private(set) var cutLedgers: Set<Int32> = []
    /// The ends of our own ledger records. Records of others may lie between them, so a restore does not start there.
    private var ownEnds: [Int32: Int64] = [:]
    private(set) var timeShare = 0.0
    weak var owner: (any UnitOwner)?
    var partitionCounts: [String: Int32] = [:] { didSet { producer.know(partitionCounts) } }
    private let unitMilliseconds: Int
    private var progress: UnitProgress

    var isAtomic: Bool { false }
    let isWriting = false

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
                throw KafkaFault.fatal("no topic is set for \(record.stream.rawValue)")
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
        // The group was served meanwhile: a new owner's ledger records must not be followed by ours.
        guard !consumer.isAssignmentLost else { throw KafkaFault.stale("the assignment was lost") }
        try send(ledger)
        if !ledger.isEmpty { try flush() }
        ledger = []
        knownLedgerEnds.merge(ownEnds, uniquingKeysWith: max)
        cutLedgers = cut(producer.firstDeliveredOffsets)
        if !cutLedgers.isEmpty { try revertMarks() }
        try requireWhole(cutLedgers)
        ownEnds.merge(producer.deliveredOffsets.mapValues { $0 + 1 }, uniquingKeysWith: max)
        try consumer.commit(PartitionOffset.own(positions), timeoutMilliseconds: progress.patience.all() ?? 1) {
            serveGroup()
            return !progress.patience.isCutShort()
        }
        timeShare = progress.patience.used
    }

    /// The marks that were just written would make a ledger look whole that has lost its facts.
    private func revertMarks() throws {
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

    /// Repeats a call in slices, serving the group in between, while the fault allows it and the unit's time lasts.
    private func repeatedly(
        while mayRepeat: (KafkaFault) -> Bool,
        _ body: (Int) throws(KafkaFault) -> Void
    ) throws {
        while true {
            // After the unit's time is up, one last call still finds out what is wrong.
            let timeout = progress.patience.next()
            do throws(KafkaFault) {
                return try body(timeout ?? 0)
            } catch {
                guard mayRepeat(error), producer.fatalFault == nil, timeout != nil else { throw judged(error) }
                serveGroup()
            }
        }
    }

    /// Outputs in flight get a moment to finish in order; a producer that cannot finish them is replaced.
    ///
    /// How much of the unit reached the ledger topic is not known here, so the ledger is read again.
    func drop() throws -> UnitEnd {
        ledger = []
        var left = settings.abortMilliseconds
        while left > 0, producer.outstanding > 0 {
            // A failed delivery is no news: its unit is being given up.
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
        // Committed records have been flushed; the rest belongs to no commit.
        try? producer.flush(timeoutMilliseconds: settings.abortMilliseconds)
    }

    /// ``drop()`` replaces a broken producer, and bisection searches for a record that is not taken. A refusal by the
    /// broker stays fatal.
    private func judged(_ fault: KafkaFault) -> KafkaFault {
        let mayPass = (fault.isRetriable || fault.isRecordFault || producer.fatalFault != nil) && !fault.isRefusal
        let judged = rights.explained(fault).judged(isFatal: !mayPass, requiresAbort: mayPass)
        return progress.added(to: judged, producer.deliveries)
    }
}
