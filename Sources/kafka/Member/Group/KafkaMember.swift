package import KafkaPorts
internal import Pipeline
package import Streams

/// One member of the group: the requests of its partitions, their ledgers, and its batches' output.
///
/// It has no clock, queue or thread: every call gets its moment, nothing waits but ``poll(_:waiting:at:)`` and
/// ``readLedgers(most:waiting:at:)``, and completions are events that ports keep until they are asked. One step goes: the
/// group's events, the writer's outcome, answers, the next question or job, seeks. The group comes first, so no answer is
/// applied to partitions that were taken away.
///
/// A fault is ridden out where the library rides it out (absent brokers, moving coordinators); those that need an operator
/// are thrown.
package final class KafkaMember {
    let settings: MemberSettings
    let ports: MemberPorts
    var groupReader: GroupReader
    var membership = Membership()
    var partitions = PartitionTable()
    var output = Output()
    var pending: PendingEvents
    var ledgers = KnownLedgers()
    var reader: LedgerReader?
    var standby = StandbyReader()
    var orphans = Orphans()
    var seeks = SeekBackoff()
    /// Whether a commit was open at the last assignment, so that the library may not have queued its starts.
    var startsAwaitCommit = false
    /// The times at which the group was last served, and partitions were last sought.
    var served: Moment
    var sought: Moment
    /// Changes of the assignment that the loop has not heard of, oldest first.
    var changes: [PartitionEvent] = []
    /// Partitions of which the requests turned out to be damaged: the loop has not heard of them.
    var damaged: [PartitionDamage] = []
    /// Whether the group had committed an offset of any partition when ours were taken over.
    var groupHasOffsets = true
    /// The numbers of partitions that the ledger's marks named when this process first had partitions: it ends where the
    /// topics' number changes, and so does each member that started under another one. nil = not known yet.
    var marked: Set<Int32>?
    /// Partitions whose own marks named no number of partitions when they started.
    var unmarked: Set<Int32> = []
    /// How many ledgers were restored, by what they came from.
    package internal(set) var restores: [LedgerSource: Int] = [:]
    /// The look at the marks of others before a first output counts.
    var look = Look.none
    /// The last fault that was ridden out: explains why no records arrive.
    package internal(set) var lastTrouble: KafkaFault?

    /// Joins the group. Connects in the background; nothing is waited for.
    package init(_ settings: MemberSettings, _ ports: MemberPorts, at now: Moment) throws(KafkaFault) {
        (self.settings, self.ports) = (settings, ports)
        (served, sought) = (now, now)
        pending = PendingEvents(most: settings.mostPending)
        groupReader = try GroupReader(ports.makeConsumer)
        try consumer.subscribe()
    }

    /// Records of one round and what has happened; waits at most so many milliseconds where nothing is awaited.
    package func poll(_ limits: BatchLimits, waiting milliseconds: Int, at now: Moment) throws -> PollRound {
        try step(at: now, servesGroup: !handsOut)
        var round = PollRound()
        guard changes.isEmpty, damaged.isEmpty else { return withEvents(round) }
        let wait = isAwaiting ? 0 : milliseconds
        guard handsOut else {
            // Nothing but the group's events is waited for.
            if wait > 0, let event = consumer.poll(waiting: isSeeking ? min(wait, Self.seekMilliseconds) : wait) {
                try take(event, at: now)
            }
            served = now
            return withEvents(round)
        }
        round.generation = announcement
        try collect(limits, waiting: wait, into: &round, at: now)
        served = now
        return withEvents(round)
    }

    /// Keeps the membership alive where nothing is polled.
    package func serve(at now: Moment) throws -> [PartitionEvent] {
        try step(at: now, servesGroup: now - served >= Self.servingMilliseconds || looksForCommit)
        return nextChange()
    }

    var consumer: any GroupConsumer { groupReader.consumer }

    private static let servingMilliseconds: Int64 = 250
    static let seekMilliseconds = 20

    /// The number of the last announcement of partitions to the loop.
    var announcement: Generation { Generation(membership.generation) }

    func nextChange() -> [PartitionEvent] { changes.isEmpty ? [] : [changes.removeFirst()] }

    /// A change comes without records, and before damage.
    private func withEvents(_ round: PollRound) -> PollRound {
        var round = round
        if round.records.isEmpty { round.events = nextChange() }
        if round.events.isEmpty, !damaged.isEmpty { round.events = held(damaged.removeFirst()) }
        // Records of a held partition may have been on their way.
        if partitions.all.contains(where: { $0.reported.hold != nil }) {
            round.records.removeAll { isHeld($0.stamp?.place.partition) }
        }
        return round
    }

    /// Whether an answer or an outcome is awaited: the driver then sleeps on its queue instead of waiting in a poll.
    package var isAwaiting: Bool {
        output.isAwaited || asksForItself || membership.isArriving || awaitsCommit || pausesRestore
    }

    /// Whether the brokers are being asked something: one question at a time.
    var isQuerying: Bool { asksForItself || standby.query != nil }

    private var asksForItself: Bool {
        if case .asked = look { return true }
        return membership.query != nil || reader?.query != nil || orphans.query != nil
    }

    enum Look: Equatable {
        case none
        /// An output waits for it: no other question goes first.
        case due
        case asked(QueryID)
    }

    /// Ends of ledgers, or offsets, are asked for again after a pause, and nothing is read meanwhile: a poll has nothing to
    /// wait for.
    private var pausesRestore: Bool {
        guard reader != nil else { return false }
        var pauses = false
        for partition in partitions.all {
            switch partition.state {
            case .restoring(.reading(let next, let target)) where next < target: return false
            case .restoring(.endsUnknown), .restoring(.reading): pauses = true
            default: break
            }
        }
        return pauses
    }

    /// Looking for an answer at once fills the room for records.
    private var looksForCommit: Bool { awaitsCommit && pending.count < Self.mostBeforeAnswer }
    private static let mostBeforeAnswer = 64

    /// Whether a commit of offsets has no answer yet, which comes among the group's events.
    private var awaitsCommit: Bool {
        if case .committing = output.state { return true }
        return partitions.all.contains { if case .committing = $0.state { true } else { false } }
    }

    /// Whether records may be handed out now.
    private var handsOut: Bool { membership.state == .owning && partitions.all.contains { $0.state == .reading } }

    /// Whether partitions wait for a seek.
    var isSeeking: Bool {
        partitions.all.contains {
            switch $0.state {
            case .starting, .rewinding: true
            default: false
            }
        }
    }

    /// One step: see above. Anything may have happened since the last one.
    func step(at now: Moment, servesGroup: Bool) throws {
        if servesGroup { try serveGroup(at: now) }
        try takeOutcomes(at: now)
        try takeAnswers(at: now)
        try advanceArrival(at: now)
        try checkDeadlines(at: now)
        try advanceRestore(at: now)
        advanceOrphans(at: now)
        advanceOffsets(at: now)
        try seek(at: now)
    }

    /// Polls the consumer once; records are kept for the next poll.
    private func serveGroup(at now: Moment) throws {
        served = now
        if let event = consumer.poll(waiting: 0) { try take(event, at: now) }
    }

    private func collect(_ limits: BatchLimits, waiting: Int, into round: inout PollRound, at now: Moment) throws {
        var (bytes, wait) = (0, 0)
        while round.records.count < max(1, limits.records), bytes < max(1, limits.bytes) {
            let event = pending.next()
            if let event {
                bytes += handOut(event, into: &round, at: now)
            } else if let event = consumer.poll(waiting: wait) {
                bytes += try collect(event, into: &round, at: now)
            } else {
                // Take what is there without a wait; only the first record is worth waiting for, once.
                guard wait == 0, waiting > 0, round.records.isEmpty else { break }
                wait = waiting
                continue
            }
            wait = 0
            // The group, or a fault, has ended the round.
            guard handsOut, changes.isEmpty, damaged.isEmpty else { break }
        }
    }

    /// - Returns: the bytes of a record that was added.
    private func collect(_ event: GroupEvent, into round: inout PollRound, at now: Moment) throws -> Int {
        switch event {
        case .record(let record, let bytes): return handOut(.record(record, bytes: bytes), into: &round, at: now)
        case .end(let end): return handOut(.end(end), into: &round, at: now)
        default:
            try take(event, at: now)
            return 0
        }
    }

    private func handOut(_ event: PendingEvents.Event, into round: inout PollRound, at now: Moment) -> Int {
        guard isWanted(event.partition) else { return 0 }
        switch event {
        case .end(let end):
            partitions.with(end.partition) { $0.noteEnd(end.offset) }
            return 0
        case .record(let record, let bytes):
            let place = record.stamp.place
            guard partitions.with(place.partition, { $0.noteHandedOut(place.offset) }) == true else {
                offsetWentBack(place, at: now)
                return 0
            }
            round.records.append(.uncopied(record))
            return bytes
        }
    }

    /// Whether records of a partition may be handed out; a held one is paused once more.
    func isWanted(_ partition: Int32) -> Bool {
        switch partitions[partition]?.state {
        case .reading: return true
        case .held:
            // Its pause had failed, or was dropped.
            _ = consumer.pause([partition])
            return false
        default: return false
        }
    }
}
