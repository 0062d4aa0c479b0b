package import Kafka
package import Pipeline

/// The requests topic as a ``RecordLog``, for one member of the group.
///
/// `poll` rides out what librdkafka rides out (brokers away, coordinators moving) and throws only what somebody has to
/// look at. What `begin`, `append` and `commit` throw says by ``KafkaFault/isRecoverable`` whether ``abort()`` and doing
/// the same records again may help.
package final class KafkaRecordLog: RecordLog {
    /// The last trouble that was ridden out, for whoever asks why nothing comes.
    package internal(set) var lastTrouble: KafkaFault?

    let settings: BrokerSettings
    let topic: String
    let unit: any OutputUnit
    let rights: AccessRights
    let trouble: @Sendable (KafkaFault) -> Void
    let restored: @Sendable (Int) -> Void
    let questions = Questions()
    /// Rings while the group waits for an answer of ours.
    let bell: GroupBell
    var consumer: Consumer
    var fencings = Fencings()
    var partitions = AssignedPartitions()
    /// Those of ``partitions`` that were started: of the others nothing is handed out.
    var started: Set<Int32> = []
    /// What came while nothing could be handed out.
    var shelf = EventShelf()
    /// When the group was last served.
    var served = ContinuousClock.now
    /// An assignment that the loop has not heard of yet.
    var arrival: Arrival?
    /// Who we are in the group since the last assignment: what fences a commit of an earlier one.
    var member: GroupMetadata?
    var generation = 0
    var restore: LedgerRestore?
    var restoredRecords = 0
    /// How far the ledgers that the loop has, or keeps, are known to go.
    var ledgerEnds: [Int32: Int64] = [:]
    /// Partitions that the loop has judged: started, or held.
    var judged: Set<Int32> = []
    /// A revocation was handed to the loop that ``releaseRevoked()`` has not answered yet.
    var isRevoked = false
    /// The consumer is a new one, which joins the group by ``releaseRevoked()``.
    var isJoinPending = false
    /// Reading has to go back to where ``partitions`` stands before any record counts again.
    var isRewindPending = false
    var stuck = StuckRewind()
    var damages = Damages()
    /// Where the requests of assigned partitions begin and end, as of their restore.
    var requestEnds: [Int32: Watermarks] = [:]
    /// Whether the group had committed an offset of any partition when ours were taken over.
    var groupHasOffsets = true

    /// Exactly-once delivery: see ``TransactionalUnit``. Connects in the background; nothing is waited for here.
    ///
    /// - Parameters:
    ///   - trouble: told of every fault that is ridden out while polling.
    ///   - restored: told at the end of each restore how many records it gave.
    package convenience init(
        exactlyOnce settings: BrokerSettings,
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in },
        restored: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        let bell = GroupBell()
        let unit = try TransactionalUnit(bell.hurrying(settings))
        try self.init(settings, unit: unit, bell: bell, trouble: trouble, restored: restored)
    }

    /// At-least-once delivery: see ``AtLeastOnceUnit``. Connects in the background; nothing is waited for here.
    package convenience init(
        atLeastOnce settings: BrokerSettings,
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in },
        restored: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        let bell = GroupBell()
        let unit = try AtLeastOnceUnit(bell.hurrying(settings))
        try self.init(settings, unit: unit, bell: bell, trouble: trouble, restored: restored)
    }

    init(
        _ settings: BrokerSettings,
        unit: any OutputUnit,
        bell: GroupBell,
        trouble: @escaping @Sendable (KafkaFault) -> Void,
        restored: @escaping @Sendable (Int) -> Void
    ) throws(KafkaFault) {
        try settings.validate()
        self.settings = settings
        topic = settings.topics.requests
        rights = try AccessRights(settings)
        consumer = try Consumer(settings.consumerProperties(), topic: topic)
        self.unit = unit
        self.bell = bell
        self.trouble = trouble
        self.restored = restored
        try consumer.subscribe()
        unit.serveGroup = { [weak self] in self?.keepServing() }
    }

    /// Whether the group has its answer to an assignment, and the loop waits for one of the broker's.
    package var isAsking: Bool { arrival?.isAnswered ?? false }

    package var hasLedger: Bool { true }
    package var isAtomic: Bool { unit.isAtomic }
    package var unitTimeShare: Double { unit.timeShare }

    /// Records of one round: up to `limits`, collected for at most `waitMilliseconds`, and for at most
    /// `limits.milliseconds` once the first is there.
    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        defer { served = .now }
        if arrival != nil { return try advanceArrival(waitMilliseconds) }
        if isRewindPending, let round = try rewind() { return round }
        var collector = RoundCollector(limits: limits, waitMilliseconds: waitMilliseconds, Generation(generation))
        while let timeout = collector.nextTimeout() {
            switch nextEvent(timeout).map(handedOut) {
            case nil:
                // An assignment came, and was answered.
                if arrival != nil { return collector.round }
                collector.noteEmpty()
            case .record(let record)?: collector.add(InboundRecord(record, topic: topic))
            case .endOfPartition?: break
            case let event?:
                if collector.round.records.isEmpty { return try round(of: event) }
                _ = shelf.keep(event)
                return collector.round
            }
            if isRewindPending { return collector.round }
        }
        return collector.round
    }

    package func serve() throws -> AssignmentChange? {
        keepServing()
        if arrival != nil { return try advanceArrival(0).change }
        guard let event = shelf.nextNews() else { return nil }
        return try round(of: event).change
    }

    package func begin() throws {
        try unit.begin()
    }

    package func append(_ records: [OutboundRecord]) throws {
        try unit.append(records)
    }

    package func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        // Known to the library before its change of assignment reaches a round.
        guard !consumer.isAssignmentLost else { throw KafkaFault.stale("the assignment was lost") }
        guard generation == Generation(self.generation), arrival == nil, let member else {
            throw KafkaFault.stale("the batch belongs to an assignment before this one")
        }
        try partitions.check(positions)
        unit.knownLedgerEnds = ledgerEnds
        do { try unit.commit(positions, of: consumer, as: member) } catch {
            // Nothing that is kept of them is believed any more: they are read from their beginning.
            for partition in unit.cutLedgers { ledgerEnds[partition] = .max }
            throw error
        }
        partitions.noteCommitted(positions)
        for (partition, end) in unit.ledgerEnds { ledgerEnds[partition] = max(ledgerEnds[partition] ?? 0, end) }
    }

    package func abort() throws {
        let end = try unit.abort()
        partitions.rewind()
        isRewindPending = true
        shelf.dropRecords()
        // What was committed, and what the ledger topic has, is asked anew: everybody starts from there. What is taken
        // away already, its next owner takes over.
        let asksAgain = end == .unknown || !judged.isSuperset(of: partitions.numbers)
        if asksAgain, arrival == nil, !isRevoked, !shelf.hasChange, !partitions.isEmpty {
            arrival = Arrival(partitions.numbers)
        }
        restore = nil
    }

    package func releaseRevoked() throws {
        isRevoked = false
        isRewindPending = false
        (restore, arrival, member) = (nil, nil, nil)
        // A fault that ends the member comes once: it stays.
        shelf.dropChange()
        bell.isRinging = false
        (started, judged) = ([], [])
        partitions.clear()
        if isJoinPending { try consumer.subscribe() } else { try consumer.unassign() }
        isJoinPending = false
    }

    package func close() throws {
        unit.serveGroup = {}
        restore = nil
        unit.close()
        // Everything is committed by now; who cannot leave in order is missed by the group after a while.
        do throws(KafkaFault) { try consumer.close() } catch { trouble(error) }
    }
}
