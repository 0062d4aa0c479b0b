internal import DeviceLab
package import Log
internal import TestKit

/// One member of the group in all roles: the counterpart of the worker's log on Kafka, on a ``SimulatedBroker``.
package final class SimulatedMember: RequestSource, GroupMember, RecordUnit, LedgerSource {
    package enum Delivery: Sendable { case exactlyOnce, atLeastOnce }

    package typealias Interlude = SimulationKit.Interlude

    /// The transactional id, and the assignor's sort key.
    package let name: String
    /// nil = dynamic membership.
    let instance: String?
    let delivery: Delivery
    let broker: SimulatedBroker
    var random: SeededRandom
    package var chances: FaultChances
    /// Runs the other members while this one is paused.
    package var interlude: ((Interlude) -> Void)?
    /// A planted bug: a restore ends at the LSO.
    package var restoreStopsAtLastStable = false
    /// A planted bug: a producer works on although a copy of one of its requests is still on its way.
    package var keepsRepeatedProducer = false
    /// A planted bug: the group's offset is believed, whatever the ledger's mark says.
    package var leavesRowsOut = false

    /// The partitions that the group has given us, and the generation.
    struct Ownership {
        let stamp: SimulatedGroup.Stamp
        let partitions: [Int32]
        /// Whether the loop has heard of them.
        var isKnown = false
        /// Whether it must hear (again) before anything is read.
        var isDue = true
        /// Those whose ledgers are restored: records of these come.
        var started: Set<Int32> = []
        /// Those of which nothing is read.
        var held: Set<Int32> = []
        var isRestored: Bool { started.count + held.count == partitions.count }
    }

    var memberID: Int?
    var owned: Ownership?
    var isReleasing = false
    private var stamps: [SimulatedGroup.Stamp] = []
    /// Where reading continues, and the known committed offsets.
    var positions: [Int32: Int64] = [:]
    /// The committed offsets of the partitions at their assignment, and which of them workers wrote.
    var found: (offsets: [Int32: Int64], own: Set<Int32>) = ([:], [])
    var committed: [Int32: Int64] = [:]
    /// The highest offset that was handed out: what comes again is redelivered.
    private var handedOut: [Int32: Int64] = [:]
    /// How far the ledger topic is known to the loop as of the last commit or restore here.
    var ledgerPositions: [Int32: Int] = [:]
    var restoring: [Int32: (next: Int, end: Int)] = [:]
    var slowLedgers: Set<Int32> = []
    /// The next record of each partition that was given completely and is read on.
    var readOn: [Int32: Int] = [:]
    /// Partitions whose ledgers end before the loop's state.
    var dropped: Set<Int32> = []

    var epoch: Int?
    /// The outcome of the last unit is not known, or the producer is fenced.
    var mustRenew = false
    /// A request of the open unit was sent twice, though every call returned OK.
    var hasRepeated = false
    var isUnitOpen = false
    /// At-least-once: what waits for the flush.
    var buffer: [OutboundRecord] = []
    /// Runs a block when the seed says so, as another thread would; nil = units are written on the loop's thread.
    package var later: ((@escaping () -> Void) -> Void)?
    /// The unit that is written away from the loop's thread.
    var detached: DetachedCommit?
    /// A call of that unit runs now.
    package internal(set) var isWriting = false
    private var isOpen = true

    package init(
        name: String,
        isStatic: Bool,
        delivery: Delivery,
        broker: SimulatedBroker,
        seed: UInt64,
        chances: FaultChances = .none
    ) {
        self.name = name
        instance = isStatic ? name : nil
        self.delivery = delivery
        self.broker = broker
        self.chances = chances
        random = SeededRandom(seed: seed)
    }

    package var member: (any GroupMember)? { self }
    package var group: [UInt8]? { Array(broker.groupName.utf8) }
    package var isAtomic: Bool { delivery == .exactlyOnce }
    package let timeShare = 0.0

    /// This member's id in the group; nil = not a member.
    package var groupID: Int? { memberID }

    /// The restored partitions of this member; nil = none (yet).
    package var settled: [Int32]? {
        guard let owned, owned.isRestored, !owned.isDue, !isReleasing else { return nil }
        return owned.partitions
    }

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        precondition(isOpen, "nobody polls a closed log")
        if detached != nil { broker.counts.add(.polledInCommit) }
        try strike()
        if delivery == .exactlyOnce, epoch == nil { epoch = broker.initProducer(name) }
        var round = PollRound()
        if let change = try groupChange() {
            round.change = change
            return round
        }
        guard let owned else { return round }
        // Nobody asks for committed offsets while its own unit may still change them.
        if owned.isDue { return detached == nil ? announce(owned) : round }
        round.generation = Generation(stamps.count)
        round.records = records(owned.started.sorted(), most: limits.records).map { .uncopied(of: $0) }
        return round
    }

    private func records(_ partitions: [Int32], most limit: Int) -> [InboundRecord] {
        guard !chance(0.1) else { return [] }
        let most = 1 + random.below(limit)
        var records: [InboundRecord] = []
        for partition in partitions.shuffled(using: &random) {
            let next = broker.requests(partition, from: positions[partition, default: 0])
            for record in next.prefix(random.below(most - records.count + 1)) {
                records.append(record)
                positions[partition] = record.offset + 1
                if record.offset <= handedOut[partition, default: -1] { noteRedelivered(record) }
                handedOut[partition] = max(handedOut[partition, default: -1], record.offset)
            }
        }
        return records
    }

    private func noteRedelivered(_ record: InboundRecord) {
        broker.counts.add(.redelivered)
    }

    /// A change of the group; nil = none.
    func groupChange() throws -> AssignmentChange? {
        guard let id = memberID else {
            memberID = broker.join(name: name, instance: instance)
            return nil
        }
        switch broker.group.status(id) {
        case .fenced:
            broker.counts.add(.fencedInstance)
            throw SimulatedFault(.fencedInstance)
        case .unknown:
            memberID = nil
            return giveUp(.lost)
        case .rebalancing:
            let change = giveUp(.revoked)
            if change == nil { broker.group.rejoin(id, at: broker.now) }
            return change
        case .stable(let generation, let partitions):
            // Generation −1: joined, and waiting for the others.
            guard owned == nil, generation >= 0 else { return nil }
            owned = Ownership(stamp: .init(member: id, generation: generation), partitions: partitions)
            return nil
        }
    }

    private func giveUp(_ kind: FaultKind) -> AssignmentChange? {
        defer { restoring = [:] }
        guard let owned, owned.isKnown else {
            self.owned = nil
            return nil
        }
        precondition(!isReleasing, "a change is answered before the next poll")
        isReleasing = true
        broker.counts.add(kind)
        if detached != nil { broker.counts.add(kind == .lost ? .lostInCommit : .revokedInCommit) }
        return kind == .lost ? .lost(owned.partitions) : .revoked(owned.partitions)
    }

    /// Committed offsets first, stable ones: the ledger's end, which is read later, covers them.
    private func announce(_ owned: Ownership) -> PollRound {
        var round = PollRound()
        guard let offsets = broker.stableOffsets(owned.partitions) else {
            broker.counts.add(.unstableOffsets)
            return round
        }
        (positions, committed) = (offsets, offsets)
        stamps.append(owned.stamp)
        if owned.isKnown { broker.counts.add(.announcedAnew) }
        self.owned?.isKnown = true
        self.owned?.isDue = false
        self.owned?.started = []
        self.owned?.held = []
        found = (broker.committed, broker.ownOffsets)
        round.change = .assigned(owned.partitions)
        return round
    }

    package func serve() throws -> AssignmentChange? {
        guard !isReleasing else { return nil }
        return try groupChange()
    }

    package func releaseRevoked() throws {
        try strike()
        precondition(!isUnitOpen && detached == nil, "a unit is finished or aborted first")
        owned = nil
        isReleasing = false
        restoring = [:]
        if let id = memberID { broker.group.rejoin(id, at: broker.now) }
    }

    package func close() throws {
        isOpen = false
        if isUnitOpen, let epoch { try? broker.endTransaction(name, epoch: epoch, commit: false) }
        if instance == nil, let id = memberID { broker.group.leave(id, at: broker.now) }
    }

    /// Injects the faults that the seed has for a call.
    func strike() throws {
        if chance(chances.crash) {
            broker.counts.add(.crashInCall)
            throw SimulatedCrash()
        }
        let faults: [(FaultKind, Double)] = [
            (.retriable, chances.retriable), (.abortable, chances.abortable), (.fatal, chances.fatal),
        ]
        for (kind, share) in faults where chance(share) {
            broker.counts.add(kind)
            if detached != nil, !isWriting { broker.counts.add(.faultInCommit) }
            throw SimulatedFault(kind)
        }
        if chance(chances.slow) { interlude?(.slow) }
        if chance(chances.pause) { interlude?(.paused) }
    }

    func chance(_ share: Double) -> Bool { share > 0 && random.chance(share) }

    /// The stamp of a generation.
    func stamp(_ generation: Generation) -> SimulatedGroup.Stamp? {
        if generation.number > 0, generation.number <= stamps.count { return stamps[generation.number - 1] }
        // "The current generation": a stamp that the group always accepts.
        return generation == .fresh ? freshStamp : nil
    }

    /// Back to the committed offsets that this member knows.
    func rewind() {
        positions = committed
        if owned?.isRestored == false, owned?.isKnown == true { owned?.isDue = true }
    }
}
