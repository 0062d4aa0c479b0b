internal import Kafka
package import KafkaPorts
package import Log
internal import Pipeline
internal import Settings

/// The requests topic and the ledger topic, for one member of the group, with the unit that writes its outputs.
///
/// `poll` rides out what librdkafka rides out (absent brokers, moving coordinators) and throws only faults that need an
/// operator. Of a fault that the unit throws, ``KafkaFault/isRecoverable`` says whether an abort and repeating the same
/// records may help.
package final class KafkaRecordLog: RequestSource, GroupMember, LedgerSource {
    /// The last fault that was ridden out: explains why no records arrive.
    package internal(set) var lastTrouble: KafkaFault?

    let settings: BrokerSettings
    let topic: String
    let brokerUnit: any BrokerUnit
    let rights: AccessRights
    let trouble: @Sendable (KafkaFault) -> Void
    let restored: @Sendable (Int) -> Void
    let questions = Questions()
    /// Rings while the group waits for our answer.
    let bell: GroupBell
    var consumer: Consumer
    var fencings = Fencings.ofMember
    var partitions = AssignedPartitions()
    /// On ``partitions``, since the loop got them: none yet → started → held, or held at once.
    var decisions: [Int32: Decision] = [:]
    /// Of consumers that were replaced.
    var pastErrors: [String: Int] = [:]
    /// Events that came while nothing could be handed out.
    var shelf = EventShelf()
    /// When the group was last served.
    var served = ContinuousClock.now
    var membership = Membership.waiting { willSet { membership.check(newValue) } }
    var generation = 0
    var restore: LedgerRestore?
    var restoredRecords = 0
    /// Up to which offsets the ledgers are known that the loop has or keeps.
    var ledgerEnds: [Int32: Int64] = [:]
    /// Before any record counts again, reading must go back to the positions in ``partitions``.
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
    ///   - trouble: called with every fault that is ridden out while polling.
    ///   - restored: called at the end of each restore with its number of records.
    package convenience init(
        exactlyOnce settings: BrokerSettings,
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in },
        restored: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        let bell = GroupBell()
        let unit = try TransactionalUnit(bell.hurrying(settings), bell)
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
        unit: any BrokerUnit,
        bell: GroupBell,
        trouble: @escaping @Sendable (KafkaFault) -> Void,
        restored: @escaping @Sendable (Int) -> Void
    ) throws(KafkaFault) {
        try settings.validate()
        self.settings = settings
        topic = settings.topics.requests
        rights = try AccessRights(settings)
        consumer = try Consumer(settings.consumerProperties(), topic: topic)
        brokerUnit = unit
        self.bell = bell
        self.trouble = trouble
        self.restored = restored
        try consumer.subscribe()
        unit.owner = self
    }

    /// Whether the group has our answer to an assignment, and the loop still waits for the broker's answers.
    package var isAsking: Bool { membership.arrival?.isAnswered ?? false }

    package var member: (any GroupMember)? { self }
    package var unit: any RecordUnit { brokerUnit }
    package var roles: LogRoles { LogRoles(source: self, unit: brokerUnit, ledgers: self) }

    /// Records of one round: up to `limits`, collected for at most `waitMilliseconds`, and for at most
    /// `limits.milliseconds` once the first is there.
    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        defer { served = .now }
        settings.noteLife()
        if membership.arrival != nil { return try advanceArrival(waitMilliseconds) }
        if isRewindPending, let round = try rewind() { return round }
        var collector = RoundCollector(limits: limits, waitMilliseconds: waitMilliseconds, Generation(generation))
        while let timeout = collector.nextTimeout() {
            if let news = collect(timeout, &collector) {
                if collector.round.records.isEmpty { return try round(of: news) }
                _ = shelf.keep(news)
                break
            }
            if isRewindPending { break }
            // An assignment may have come, and was answered.
            if collector.isDrained, membership.arrival != nil { break }
        }
        return collector.round
    }

    /// Adds the next record to the round. - Returns: an event that ends the round.
    private func collect(_ timeout: Int, _ collector: inout RoundCollector) -> ConsumerEvent? {
        switch nextEvent(timeout) {
        case nil: collector.noteEmpty()
        case .endOfPartition(let end)?: if decisions[end.partition] == .started { partitions.noteEnd(end) }
        case .message(let message)?:
            do throws(KafkaFault) {
                if try mayHandOut(message.partition, message.offset) { collector.add(message) }
            } catch { return .notice(error) }
        case let event?: return event
        }
        return nil
    }

    package func serve() throws -> AssignmentChange? {
        keepServing()
        if membership.arrival != nil { return try advanceArrival(0).change }
        guard let event = shelf.nextNews() else { return nil }
        return try round(of: event).change
    }

    package func releaseRevoked() throws {
        let isExpelled = if case .expelled = membership { true } else { false }
        // The answer may fail and be given again: from here on nothing is committed.
        if !isExpelled { membership = .revoked(nil) }
        isRewindPending = false
        restore = nil
        // The fault that ends a member comes only once, so it stays.
        shelf.dropChange()
        (bell.isRinging, bell.isLost) = (false, false)
        decisions = [:]
        partitions.clear()
        if isExpelled { try consumer.subscribe() } else { try consumer.unassign() }
        membership = .waiting
    }

    package func close() throws {
        // A unit that is still being written gives up soon.
        bell.isRinging = true
        brokerUnit.close()
        brokerUnit.owner = nil
        restore = nil
        // Everything is committed by now; a member that cannot leave in order times out in the group.
        do throws(KafkaFault) { try consumer.close() } catch { trouble(error) }
    }
}
