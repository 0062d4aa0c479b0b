internal import Kafka
internal import KafkaPorts
internal import Log

/// The consumer is polled at least twice a second, whatever the log or the loop waits for: the group drops a member
/// that does not poll for `max.poll.interval.ms`, and waits for one that does not answer.
extension KafkaRecordLog {
    /// Polls the consumer once when it is due; the event is kept for the next poll.
    func keepServing() {
        settings.noteLife()
        guard ContinuousClock.now - served >= Self.servingInterval else { return }
        if let event = polled(0) {
            if !shelf.keep(event) {
                // No room: the records are dropped and read again.
                shelf.dropRecords()
                isRewindPending = true
            }
            if case .change(let change) = event { ring(for: change) }
        }
        served = .now
    }

    private static let servingInterval = Duration.milliseconds(250)

    /// The next event; kept ones come first.
    func nextEvent(_ timeout: Int) -> ConsumerEvent? {
        if !shelf.isEmpty, let event = shelf.next() { return event }
        return polled(timeout)
    }

    /// Polls the consumer. An assignment is answered here and not returned; a fault becomes an event, so that the
    /// records before it are handed out first.
    private func polled(_ timeout: Int) -> ConsumerEvent? {
        do {
            let event = try consumer.poll(timeoutMilliseconds: timeout)
            guard case .change(.assigned(let assigned)) = event else { return event }
            answer(assigned)
            return nil
        } catch {
            if error.isFencedMember, let change = renewConsumer(after: error) { return change }
            return .notice(error)
        }
    }

    /// Checks and notes a record that is about to be handed out; if it must not be, it is read again.
    func mayHandOut(_ partition: Int32, _ offset: Int64) throws(KafkaFault) -> Bool {
        guard decisions[partition] == .started else {
            // Its pause had failed.
            if decisions[partition] == .held { try? consumer.pause([partition]) }
            isRewindPending = true
            return false
        }
        try partitions.noteHandedOut(partition, offset)
        return true
    }

    /// After a join request that was answered too late, the broker takes this member for another process with its name,
    /// and the consumer is useless. A new one replaces it, and joins once the loop has released the old one's
    /// partitions: an assignment that came before that would be dropped with them.
    private func renewConsumer(after fault: KafkaFault) -> ConsumerEvent? {
        guard fencings.note() else { return nil }
        guard let fresh = try? Consumer(settings.consumerProperties(), topic: topic) else { return nil }
        trouble(fault)
        pastErrors.merge(consumer.errorCounts, uniquingKeysWith: +)
        try? consumer.close()
        consumer = fresh
        membership = .expelled
        shelf = EventShelf()
        ring(for: .lost([]))
        return .change(.lost(partitions.numbers))
    }

    /// Lets the unit know, which may be written on another thread at the moment.
    private func ring(for change: GroupChange) {
        bell.isRinging = true
        if case .lost = change { bell.isLost = true }
    }

    func round(of event: ConsumerEvent) throws -> PollRound {
        var round = PollRound()
        switch event {
        case .message, .endOfPartition, .change(.assigned): break
        case .notice(let fault):
            // One damaged batch may be told of by several faults until it is read again.
            let isNews = !isRewindPending
            try rideOut(fault)
            if isNews { round.damaged = damage(fault) }
        case .change(.revoked(let revoked)): round.change = noteGone(.revoked(revoked))
        case .change(.lost(let lost)):
            bell.isLost = true
            round.change = noteGone(.lost(lost))
        }
        return round
    }

    /// The next owner takes the partitions over, even where an abort before had asked to take them over again here.
    private func noteGone(_ change: AssignmentChange) -> AssignmentChange {
        membership = membership.leaving
        shelf.dropRecords()
        bell.isRinging = true
        return change
    }

    func note(_ fault: KafkaFault) {
        lastTrouble = fault
        trouble(fault)
    }

    func rideOut(_ fault: KafkaFault) throws {
        if fault.isFencedMember { throw try fault.saying(namesake(fault)) }
        guard fault.isRecoverable || fault.isPollGap || fault.isOffsetGone else {
            throw rights.explained(fault, reading: topic)
        }
        note(fault)
        if fault.isOffsetGone { noteOffsetGone(of: fault.partition) }
        // The library skips bytes that did not arrive as they were written: read them again.
        if fault.isDamage { isRewindPending = true }
    }

    /// Retention deleted the next record to read, or the topic was cut: the partitions are taken over again, which
    /// shows what the positions say.
    private func noteOffsetGone(of partition: Int32?) {
        isRewindPending = true
        // Partitions that have not started yet are asked for their ends, and sought, anyway.
        if let partition, decisions[partition] != .started { return }
        if restore == nil { takeOverAgain() }
    }

    /// Takes the same partitions over again and repeats all questions of an assignment.
    private func takeOverAgain() {
        guard case .owning(let member) = membership, !shelf.hasChange else { return }
        membership = .arriving(Arrival(partitions.numbers), member)
        restore = nil
    }

    /// - Returns: the damage that is beyond doubt; nil where reading once more may help.
    private func damage(_ fault: KafkaFault) -> PartitionDamage? {
        guard fault.isDamage, let partition = fault.partition,
            let next = partitions.starts.first(where: { $0.partition == partition })?.offset,
            damages.note(partition, at: next)
        else { return nil }
        return PartitionDamage(partition: partition, cause: fault.message, isLedger: false)
    }

    private func namesake(_ fault: KafkaFault) throws -> String {
        "another process is the member \(try settings.stableID()) of the group (\(fault.message)): give every instance of "
            + "the group a name of its own with --instance"
    }

    /// Seeks every partition to its position, and starts those that are starting. Returns a round if nothing can be
    /// read yet.
    func rewind() throws -> PollRound? {
        shelf.dropRecords()
        do {
            // The next owner reads partitions that are being revoked.
            if !membership.isLeaving, !shelf.hasChange {
                let sought = partitions.numbers.filter { decisions[$0] != .held }
                let starting = sought.filter { decisions[$0] == .starting }
                let others = sought.filter { decisions[$0] != .starting }
                try consumer.seek(partitions.starts(others), timeoutMilliseconds: Self.rewindMilliseconds)
                try consumer.start(partitions.starts(starting), timeoutMilliseconds: Self.rewindMilliseconds)
                for partition in starting { decisions[partition] = .started }
            }
            isRewindPending = false
            stuck = StuckRewind()
            return nil
        } catch {
            try rideOut(error)
            if stuck.isOver() { takeOverAgain() }
            if membership.arrival != nil { return PollRound() }
        }
        // Reading has not begun, or the partitions are about to be revoked: records that come meanwhile are read again.
        return try nextEvent(Self.rewindPauseMilliseconds).map { try round(of: $0) } ?? PollRound()
    }

    private static let rewindMilliseconds = 400
    private static let rewindPauseMilliseconds = 20
}
