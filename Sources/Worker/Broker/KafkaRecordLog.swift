package import Kafka
package import Pipeline

/// The requests topic as a ``RecordLog``, for one member of the group.
///
/// `poll` rides out what librdkafka rides out (brokers away, coordinators moving) and throws only what somebody has to
/// look at. What `begin`, `append` and `commit` throw says by ``KafkaFault/isRecoverable`` whether ``abort()`` and doing
/// the same records again may help.
package final class KafkaRecordLog: RecordLog {
    /// The last trouble that was ridden out, for whoever asks why nothing comes.
    package private(set) var lastTrouble: KafkaFault?

    private let settings: BrokerSettings
    private var consumer: Consumer
    private var fencings = Fencings()
    private let topic: String
    private let unit: any OutputUnit
    private let rights: AccessRights
    private let trouble: @Sendable (KafkaFault) -> Void
    private let restored: @Sendable (Int) -> Void
    private var partitions = AssignedPartitions()
    /// What came in the middle of a round, for the next one: a round is either records or a change.
    private var held: ConsumerEvent?
    /// Partitions that the group has given us but whose committed offsets could not be read yet.
    private var untaken: [Int32]?
    /// Who we are in the group since the last assignment: what fences a commit of an earlier one.
    private var member: GroupMetadata?
    private var generation = 0
    private var restore: LedgerRestore?
    private var restoredRecords = 0
    /// How far the ledgers that the loop has, or keeps, are known to go.
    private var ledgerEnds: [Int32: Int64] = [:]
    /// A revocation was seen that ``releaseRevoked()`` has not answered yet.
    private var isRevoked = false
    /// Reading has to go back to where ``partitions`` stands before any record counts again.
    private var isRewindPending = false

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
        try self.init(settings, unit: TransactionalUnit(settings), trouble: trouble, restored: restored)
    }

    /// At-least-once delivery: see ``AtLeastOnceUnit``. Connects in the background; nothing is waited for here.
    package convenience init(
        atLeastOnce settings: BrokerSettings,
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in },
        restored: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        try self.init(settings, unit: AtLeastOnceUnit(settings), trouble: trouble, restored: restored)
    }

    init(
        _ settings: BrokerSettings,
        unit: any OutputUnit,
        trouble: @escaping @Sendable (KafkaFault) -> Void,
        restored: @escaping @Sendable (Int) -> Void
    ) throws(KafkaFault) {
        try settings.validate()
        self.settings = settings
        topic = settings.topics.requests
        rights = try AccessRights(settings)
        consumer = try Consumer(settings.consumerProperties(), topic: topic)
        self.unit = unit
        self.trouble = trouble
        self.restored = restored
        try consumer.subscribe()
    }

    package var hasLedger: Bool { true }
    package var isAtomic: Bool { unit.isAtomic }

    /// Records of one round: up to `limits`, collected for at most `waitMilliseconds`, and for at most
    /// `limits.milliseconds` once the first is there. Only a new assignment takes longer: its offsets are looked up.
    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        if let event = held.take() { return try round(of: event) }
        if let waiting = untaken { return try takeOver(waiting) }
        if isRewindPending, let round = try rewind() { return round }
        var collector = RoundCollector(limits: limits, waitMilliseconds: waitMilliseconds, Generation(generation))
        while let timeout = collector.nextTimeout() {
            switch nextEvent(timeout, handsOut: true) {
            case nil: collector.noteEmpty()
            case .record(let record)?: collector.add(InboundRecord(record, topic: topic))
            case let event?:
                if collector.round.records.isEmpty { return try round(of: event) }
                held = event
                return collector.round
            }
        }
        return collector.round
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
        guard generation == Generation(self.generation), let member else {
            throw KafkaFault.stale("the batch belongs to an assignment before this one")
        }
        try partitions.check(positions)
        try unit.commit(positions, of: consumer, as: member)
        partitions.noteCommitted(positions)
        for (partition, end) in unit.ledgerEnds { ledgerEnds[partition] = max(ledgerEnds[partition] ?? 0, end) }
    }

    package func abort() throws {
        let end = try unit.abort()
        partitions.rewind()
        isRewindPending = true
        // What was committed, and what the ledger topic has, is asked anew: everybody starts from there.
        if (end == .unknown || restore != nil), !isRevoked, untaken == nil, !partitions.isEmpty {
            untaken = partitions.numbers
        }
        restore = nil
    }

    package func releaseRevoked() throws {
        isRevoked = false
        isRewindPending = false
        restore = nil
        member = nil
        partitions.clear()
        try consumer.unassign()
    }

    package func close() throws {
        restore = nil
        unit.close()
        // Everything is committed by now; who cannot leave in order is missed by the group after a while.
        do throws(KafkaFault) { try consumer.close() } catch { trouble(error) }
    }
}

// MARK: - Restore

extension KafkaRecordLog {
    package func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws -> Set<Int32> {
        restoredRecords = 0
        do throws(KafkaFault) {
            let restore = try LedgerRestore(
                settings,
                partitions: partitions,
                known: ledgerEnds.filter { kept.contains($0.key) },
                lookupMilliseconds: Self.lookupMilliseconds
            )
            self.restore = restore
            return restore.truncated
        } catch { throw rights.explained(error, reading: settings.topics.outputs[.ledger]) }
    }

    package func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound {
        var round = RestoreRound()
        guard let restore else { throw KafkaFault.stale("no restore is under way") }
        // The group may take the partitions back meanwhile; none of their records may come.
        if let event = nextEvent(0) {
            if case .record = event { isRewindPending = true }
            round.change = try self.round(of: event).change
            if round.change != nil { return round }
        }
        if !restore.isComplete {
            do throws(KafkaFault) {
                round.records = try restore.read(records, timeoutMilliseconds: waitMilliseconds)
            } catch {
                // An offset that is gone, for example: then all of it is read again.
                guard error.isRefusal else { throw error.judged(isFatal: false, requiresAbort: true) }
                throw rights.explained(error, reading: settings.topics.outputs[.ledger])
            }
        }
        restoredRecords += round.records.count
        round.remaining = restore.remaining
        guard restore.isComplete else { return round }
        try consumer.resume(partitions.numbers)
        for (partition, end) in restore.ends { ledgerEnds[partition] = end }
        self.restore = nil
        round.isComplete = true
        restored(restoredRecords)
        return round
    }
}

// MARK: - Events

extension KafkaRecordLog {
    /// The next event; a fault becomes one too, so that the records before it are handed out first.
    ///
    /// - Parameter handsOut: false where only a change is looked for: a record is dropped then and counts as not read.
    private func nextEvent(_ timeout: Int, handsOut: Bool = false) -> ConsumerEvent? {
        do {
            let event = try consumer.poll(timeoutMilliseconds: timeout)
            if handsOut, case .record(let record) = event { try partitions.take(record.partition, record.offset) }
            return event
        } catch {
            if error.isFencedMember, let change = renewConsumer(after: error) { return change }
            return .notice(error)
        }
    }

    /// A member whose request to join was answered too late is taken for another process with its name, and its consumer
    /// is of no use any more. A new one joins in its place.
    private func renewConsumer(after fault: KafkaFault) -> ConsumerEvent? {
        guard fencings.note() else { return nil }
        trouble(fault)
        do {
            try? consumer.close()
            let fresh = try Consumer(settings.consumerProperties(), topic: topic)
            try fresh.subscribe()
            consumer = fresh
        } catch {
            return nil
        }
        untaken = nil
        held = nil
        member = nil
        return .change(.lost(partitions.numbers))
    }

    private func round(of event: ConsumerEvent) throws -> PollRound {
        var round = PollRound()
        switch event {
        case .record, .endOfPartition:
            break
        case .notice(let fault):
            try rideOut(fault)
        case .change(.assigned(let assigned)):
            return try takeOver(assigned)
        case .change(.revoked(let revoked)):
            noteRevoked()
            round.change = .revoked(revoked)
        case .change(.lost(let lost)):
            noteRevoked()
            round.change = .lost(lost)
        }
        return round
    }

    /// What an abort left to be taken over anew is taken over by the next owner, even where the abort came first.
    private func noteRevoked() {
        isRevoked = true
        untaken = nil
    }

    private func rideOut(_ fault: KafkaFault) throws {
        if fault.isFencedMember { throw try fault.saying(namesake(fault)) }
        guard fault.isRecoverable || fault.isPollGap else { throw rights.explained(fault, reading: topic) }
        lastTrouble = fault
        trouble(fault)
        // Bytes that did not arrive as they were written are skipped by the library: read them again.
        if fault.isDamage { isRewindPending = true }
    }

    private func namesake(_ fault: KafkaFault) throws -> String {
        "another process is the member \(try settings.stableID()) of the group (\(fault.message)): give every instance of "
            + "the group a name of its own with --instance"
    }

    /// Reads the committed offsets of a new assignment and starts there, once its ledgers are restored.
    private func takeOver(_ assigned: [Int32]) throws -> PollRound {
        untaken = assigned
        // The group may have taken them back already, while the broker did not answer.
        switch nextEvent(0) {
        case .change(let change)?: return try replaceUntaken(by: change)
        // The library tells what ends a member once: it must not be missed here.
        case .notice(let fault)?: try rideOut(fault)
        default: break
        }
        do {
            try checkPartitions(assigned)
            // First what a predecessor left open under our name: it would hold back the offsets and the ledger's end.
            try unit.prepare()
            partitions.replace(try consumer.committed(assigned, timeoutMilliseconds: Self.lookupMilliseconds))
            member = try consumer.groupMetadata()
            try consumer.assignPaused(partitions.starts)
        } catch let fault as KafkaFault {
            // Asked again at the next poll.
            try rideOut(fault)
            return PollRound()
        }
        untaken = nil
        isRewindPending = false
        generation += 1
        var round = PollRound()
        round.change = .assigned(assigned)
        return round
    }

    /// Judging on by the old count would refuse keys that have moved, and write where no output topic has a partition.
    private func checkPartitions(_ assigned: [Int32]) throws(KafkaFault) {
        guard let started = settings.partitions else { return }
        var counts: [String: Int] = [:]
        for topic in try consumer.topics(timeoutMilliseconds: Self.lookupMilliseconds) {
            counts[topic.name] = topic.partitions
        }
        // The group's leader may have asked a broker that knew more.
        if let last = assigned.max(), last >= started { counts[topic] = max(counts[topic] ?? 0, Int(last) + 1) }
        if let change = TopicCheck.changed(counts, settings.topics, from: started) { throw .fatal(change) }
    }

    /// Nobody has heard of these partitions yet, so giving them back is no news; those that an abort has left are.
    private func replaceUntaken(by change: GroupChange) throws -> PollRound {
        untaken = nil
        guard case .assigned(let assigned) = change else { return try round(of: .change(change)) }
        return try takeOver(assigned)
    }

    /// Sends every partition back to where it stands. Returns a round when there is nothing to read for now.
    private func rewind() throws -> PollRound? {
        do {
            // Partitions that are being taken away are read by their next owner.
            if !isRevoked { try consumer.seek(partitions.starts, timeoutMilliseconds: Self.lookupMilliseconds) }
            isRewindPending = false
            return nil
        } catch {
            try rideOut(error)
        }
        // Reading has not begun yet, or is about to be taken away: what comes meanwhile is read again later.
        return try nextEvent(Self.rewindPauseMilliseconds).map { try round(of: $0) } ?? PollRound()
    }

    private static let lookupMilliseconds = 5_000
    private static let rewindPauseMilliseconds = 20
}
