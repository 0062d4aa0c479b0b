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

    private let topic: String
    private let consumer: Consumer
    private let unit: any OutputUnit
    private var partitions = AssignedPartitions()
    /// What came in the middle of a round, for the next one: a round is either records or a change.
    private var held: ConsumerEvent?
    /// Partitions that the group has given us but whose committed offsets could not be read yet.
    private var untaken: [Int32]?
    /// A revocation was seen that ``releaseRevoked()`` has not answered yet.
    private var isRevoked = false
    /// Reading has to go back to where ``partitions`` stands before any record counts again.
    private var isRewindPending = false

    /// At-least-once delivery: see ``AtLeastOnceUnit``. Connects in the background; nothing is waited for here.
    package convenience init(atLeastOnce settings: BrokerSettings) throws {
        try self.init(settings, unit: AtLeastOnceUnit(settings))
    }

    init(_ settings: BrokerSettings, unit: any OutputUnit) throws(KafkaFault) {
        try settings.validate()
        topic = settings.topics.requests
        consumer = try Consumer(settings.consumerProperties(), topic: topic)
        self.unit = unit
        try consumer.subscribe()
    }

    /// Records of one round: up to `limits`, collected for at most `waitMilliseconds`, and for at most
    /// `limits.milliseconds` once the first is there. Only a new assignment takes longer: its offsets are looked up.
    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        if let event = held.take() { return try round(of: event) }
        if let waiting = untaken { return try takeOver(waiting) }
        if isRewindPending, let round = try rewind() { return round }
        var collector = RoundCollector(limits: limits, waitMilliseconds: waitMilliseconds)
        while let timeout = collector.nextTimeout() {
            switch nextEvent(timeout) {
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

    package var hasLedger: Bool { false }
    package var isAtomic: Bool { true }

    package func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws {}

    package func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound {
        var round = RestoreRound()
        round.isComplete = true
        return round
    }

    package func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        // Known to the library before its change of assignment reaches a round.
        guard !consumer.isAssignmentLost else { throw KafkaFault.stale("the assignment was lost") }
        try partitions.check(positions)
        try unit.commit(positions, of: consumer)
        partitions.noteCommitted(positions)
    }

    package func abort() throws {
        try unit.abort()
        partitions.rewind()
        isRewindPending = true
    }

    package func releaseRevoked() throws {
        isRevoked = false
        isRewindPending = false
        partitions.clear()
        try consumer.unassign()
    }

    package func close() throws {
        unit.close()
        try consumer.close()
    }
}

extension KafkaRecordLog {
    /// The next event; a fault becomes one too, so that the records before it are handed out first.
    private func nextEvent(_ timeout: Int) -> ConsumerEvent? {
        do {
            let event = try consumer.poll(timeoutMilliseconds: timeout)
            if case .record(let record) = event { try partitions.take(record.partition, record.offset) }
            return event
        } catch {
            return .notice(error)
        }
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
            isRevoked = true
            round.change = .revoked(revoked)
        case .change(.lost(let lost)):
            isRevoked = true
            round.change = .lost(lost)
        }
        return round
    }

    private func rideOut(_ fault: KafkaFault) throws {
        guard fault.isRecoverable || fault.isPollGap else { throw fault }
        lastTrouble = fault
        // Bytes that did not arrive as they were written are skipped by the library: read them again.
        if fault.isDamage { isRewindPending = true }
    }

    /// Reads the committed offsets of a new assignment and starts there.
    private func takeOver(_ assigned: [Int32]) throws -> PollRound {
        untaken = assigned
        // The group may have taken them back already, while the broker did not answer.
        if case .change(let change) = try consumer.poll(timeoutMilliseconds: 0) {
            return try replaceUntaken(by: change)
        }
        do {
            partitions.replace(try consumer.committed(assigned, timeoutMilliseconds: Self.lookupMilliseconds))
            try consumer.assign(partitions.starts)
        } catch {
            // Asked again at the next poll.
            try rideOut(error)
            return PollRound()
        }
        untaken = nil
        isRewindPending = false
        var round = PollRound()
        round.change = .assigned(assigned)
        return round
    }

    /// Nobody has heard of these partitions yet, so giving them back is no news either.
    private func replaceUntaken(by change: GroupChange) throws -> PollRound {
        untaken = nil
        guard case .assigned(let assigned) = change else {
            try consumer.unassign()
            return PollRound()
        }
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
        guard let event = try consumer.poll(timeoutMilliseconds: Self.rewindPauseMilliseconds) else {
            return PollRound()
        }
        if case .change = event { return try round(of: event) }
        return PollRound()
    }

    private static let lookupMilliseconds = 5_000
    private static let rewindPauseMilliseconds = 20
}
