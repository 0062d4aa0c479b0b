internal import DeviceLab
internal import KafkaPorts
internal import Streams
internal import TestKit

/// A membership of the group as librdkafka's consumer shows it, eager protocol: between the broker's group and a member.
final class SimulatedConsumer: GroupConsumer {
    /// What the application has to answer before the library goes on.
    enum Change {
        case assigned([Int32]), revoked([Int32]), lost([Int32])

        var isAssigned: Bool { if case .assigned = self { true } else { false } }
    }

    struct OpenCommit {
        let id: CommitID
        /// When the answer comes, or the library gives it up.
        let due: Int64
        let fault: KafkaFault?
        let isUnanswered: Bool
    }

    /// `max.poll.interval.ms`.
    static let pollInterval: Int64 = 30_000

    unowned let process: SimulatedProcess
    let steps: PartitionSteps
    private(set) var isSubscribed = false
    private(set) var isClosed = false
    /// The name that the coordinator gave this member, as far as the client knows.
    var memberID: Int?
    /// The group's assignment and generation, as far as the client knows.
    var assigned: [Int32]?
    var generation = -1
    /// A change that the application has not heard of yet, and when it does.
    var due: (change: Change, at: Int64)?
    var unanswered: Change?
    /// The client knows that the group has moved on.
    var isLossKnown = false
    var isFenced = false
    /// When the next heartbeat's answer tells what has become of the group; nil = nothing has.
    var learns: Int64?
    /// Faults that the next polls report.
    var faults: [KafkaFault] = []
    var commits: [OpenCommit] = []
    private var lastCommit = 0
    private var lastPoll: Int64
    /// How often the present change was answered.
    var answers = 0
    private var tokens: [SimulatedToken] = []
    var watch = ConsumerWatch()
    /// Partitions that cannot be sought any more: since when, and how often they were.
    var stopped: [Int32: (since: Int64, seeks: Int)] = [:]
    private(set) var observations = ConsumerObservations()

    private let renewals: Int
    var isOutdated: Bool { renewals != process.renewals }

    init(_ process: SimulatedProcess) {
        (self.process, renewals) = (process, process.renewals)
        steps = PartitionSteps(seed: process.random.next())
        lastPoll = process.broker.now
        steps.wrong = broker.wrong
        steps.note = { [unowned broker] in broker.counts.add($0) }
        steps.firstOffset = { [unowned broker] partition, offset in
            let ends = broker.readableOffsets(partition)
            // As `auto.offset.reset` says: `earliest`, where the group has committed nothing.
            if offset == PartitionOffset.stored { return broker.committed[partition] ?? ends.lowerBound }
            return offset == PartitionOffset.beginning ? ends.lowerBound : ends.upperBound
        }
        steps.fetch = { [unowned self] in fetched($0, $1) }
        steps.hasCommitAnswer = { [unowned self] in !awaitsCommit }
        process.consumer = self
    }

    var broker: SimulatedBroker { process.broker }

    private func fetched(_ partition: Int32, _ offset: Int64) -> PartitionSteps.Delivery? {
        let ends = broker.readableOffsets(partition)
        let offset = broker.wrong == .skipsGoneOffset && !ends.contains(offset) ? ends.lowerBound : offset
        guard offset >= ends.lowerBound, offset <= ends.upperBound else {
            broker.counts.add(.offsetGone)
            return .offsetGone
        }
        // A replica that lags behind says so, too, most of all at first.
        let isFirst = steps.partition(partition).base == offset
        let share = process.chances.client.offsetGone * (isFirst ? 15 : 1)
        if process.strikes(.offsetGone, share) { return .offsetGone }
        guard let record = broker.requests(partition, from: offset).first else { return nil }
        if broker.damagedRequests.contains(RecordPlace(partition: partition, offset: record.offset)) {
            broker.counts.add(.damagedOnDisk)
            return .damaged(before: record.offset + 1)
        }
        guard process.strikes(.damagedOnce, process.chances.client.damagedOnce) else { return .record(record) }
        return .damaged(before: record.offset + 1)
    }

    // MARK: membership

    func subscribe() throws(KafkaFault) {
        guard !process.isDead else { throw .ofDeadProcess }
        isSubscribed = true
        observe()
    }

    func token() throws(KafkaFault) -> any MemberToken {
        guard process.enter() else { throw .ofDeadProcess }
        observe()
        guard let memberID, generation >= 0, !isFenced else { throw .stale("not a member of the group at the moment") }
        let token = SimulatedToken(.init(member: memberID, generation: generation))
        tokens = tokens.suffix(50) + [token]
        return token
    }

    var isAssignmentLost: Bool {
        guard !process.isDead else { return false }
        observe()
        if isLossKnown { noteLossIsKnown() }
        return isLossKnown && broker.wrong != .lossComesAsEventOnly
    }

    /// From here on the member knows: nothing more of these partitions may be committed.
    func noteLossIsKnown() {
        for token in tokens where token.stamp.generation == generation { token.isKnownLost = true }
    }

    /// While the library's own thread sends heartbeats.
    var heartbeatID: Int? {
        broker.now - lastPoll > Self.pollInterval || isFenced || isClosed ? nil : memberID
    }

    // MARK: events

    func poll(waiting milliseconds: Int) -> GroupEvent? {
        guard process.enter(mayWait: true), isSubscribed, !isClosed else { return nil }
        if process.isWriting { broker.counts.add(.polledInCommit) }
        noteGap()
        observe()
        (steps.preempted, steps.stalls) = (process.chances.client.preempted, process.chances.client.preempted)
        steps.advance(to: broker.now)
        if let assertion = steps.assertion { process.violate("fails an assertion: \(assertion)") }
        if let event = nextEvent() { return event }
        if milliseconds > 0 { process.wait?(milliseconds) }
        return nil
    }

    private func nextEvent() -> GroupEvent? {
        // Records that were fetched before a change was known may come first.
        if due != nil, process.chance(0.3), let event = nextRecord() { return event }
        if !faults.isEmpty { return .fault(faults.removeFirst()) }
        if let event = dueChange() { return event }
        if let fault = newFault() { return .fault(fault) }
        if let event = commitAnswer() { return event }
        return process.chance(0.1) ? nil : nextRecord()
    }

    private func dueChange() -> GroupEvent? {
        guard let due, due.at <= broker.now else { return nil }
        (unanswered, self.due, answers) = (due.change, nil, 0)
        broker.counts.note("\(broker.now) \(process.name) hears: \(due.change)")
        switch due.change {
        case .assigned(let partitions):
            process.hasNewAssignment = true
            return .assigned(partitions)
        case .revoked(let partitions):
            noteGone(.revoked)
            return .revoked(partitions)
        case .lost(let partitions):
            noteLossIsKnown()
            noteGone(.lost)
            return .lost(partitions)
        }
    }

    private func noteGone(_ kind: FaultKind) {
        broker.counts.add(kind)
        if process.isWriting { broker.counts.add(kind == .lost ? .lostInCommit : .revokedInCommit) }
        if process.reader?.isReading == true { broker.counts.add(.restoreInterrupted) }
    }

    private func newFault() -> KafkaFault? {
        guard !isFenced else { return nil }
        if process.strikes(.fatal, process.chances.fatal * SimulatedProcess.share) {
            // It is of no further use, as one that is fenced.
            (process.mayEnd, isFenced) = (true, true)
            return .fatal("the client has failed")
        }
        guard process.strikes(.retriable, process.chances.retriable) else { return nil }
        if process.isWriting { broker.counts.add(.faultInCommit) }
        observations.errors["_TRANSPORT", default: 0] += 1
        let fault = KafkaFault(.transport, "a connection broke")
        observations.connectionFault = fault
        return fault
    }

    private func nextRecord() -> GroupEvent? {
        guard !isFenced, let (partition, delivery) = steps.poll() else {
            watch.noteNothing(self)
            return nil
        }
        watch.noteDelivery(partition)
        // One that was fetched before the member lost its id was fetched under that.
        let last = tokens.last.flatMap { $0.stamp.generation == generation ? $0.stamp.member : nil }
        let stamp = SimulatedGroup.Stamp(member: memberID ?? last ?? 0, generation: generation)
        switch delivery {
        case .record(let record):
            process.notePolled(partition, record.offset..<(record.offset + 1), stamp)
            guard case .uncopied(let uncopied) = PolledRecord.uncopied(of: record) else { return nil }
            return .record(uncopied, bytes: 100 + (record.value?.count ?? 0))
        case .end(let offset): return .end(PartitionOffset(partition: partition, offset: offset))
        case .offsetGone: return .fault(KafkaFault(.autoOffsetReset, "the next offset is gone").reading(partition))
        case .damaged(let next):
            process.notePolled(partition, (next - 1)..<next, stamp)
            return .fault(KafkaFault(.badMsg, "bytes are damaged").reading(partition, at: next - 1))
        }
    }

    /// The library leaves the group where nobody polls.
    private func noteGap() {
        defer { lastPoll = broker.now }
        guard broker.now - lastPoll > Self.pollInterval, let id = memberID, !isFenced else { return }
        broker.counts.add(.pollGap)
        if process.instance == nil { broker.group.leave(id, at: broker.now) }
        faults.append(KafkaFault(.maxPollExceeded, "no poll in \(Self.pollInterval) ms"))
        lose()
    }

    // MARK: commits of offsets

    var hasOpenCommit: Bool { !commits.isEmpty }
    /// Before the application hears of an answer, the library has it.
    private var awaitsCommit: Bool { commits.contains { $0.due > broker.now } }

    func commit(_ offsets: [PartitionOffset]) throws(KafkaFault) -> CommitID {
        guard process.enter() else { throw .ofDeadProcess }
        observe()
        lastCommit += 1
        let id = CommitID(lastCommit)
        guard let memberID else { throw KafkaFault(.unknownMemberId, "not a member of the group") }
        let stamp = SimulatedGroup.Stamp(member: memberID, generation: generation)
        let isUnanswered = process.strikes(.offsetCommitUnanswered, process.chances.client.offsetCommitUnanswered)
        var fault: KafkaFault?
        if !isUnanswered || broker.dropsOffsets || process.random.below(2) == 0 {
            let positions = offsets.map { PartitionPosition(partition: $0.partition, offset: $0.offset) }
            do throws(BrokerRefusal) { try broker.commitOffsets(positions, stamp) } catch {
                broker.counts.add(.fencedGeneration)
                fault = KafkaFault(.illegalGeneration, "the group has moved on")
            }
        }
        let after = isUnanswered ? broker.limits.sessionTimeout : Int64(process.random.below(60))
        commits.append(OpenCommit(id: id, due: broker.now + after, fault: fault, isUnanswered: isUnanswered))
        steps.isCommitOpen = true
        return id
    }

    private func commitAnswer() -> GroupEvent? {
        guard let index = commits.firstIndex(where: { $0.due <= broker.now }) else { return nil }
        let commit = commits.remove(at: index)
        steps.isCommitOpen = awaitsCommit
        return commit.isUnanswered ? nil : .committed(commit.id, commit.fault)
    }

    func explained(_ fault: KafkaFault) -> KafkaFault { fault }

    // MARK: the end

    func close(limit milliseconds: Int) throws(KafkaFault) {
        guard process.enter(), !isClosed else { return }
        if !end() { process.hasWaitedForEnd = true }
    }

    func discard() {
        guard !process.isDead, !isClosed else { return }
        end()
    }

    /// A client that never ends does not leave either: its session expires.
    @discardableResult
    private func end() -> Bool {
        isClosed = true
        let ends = process.forgetClient()
        if ends, process.instance == nil, let id = memberID { broker.group.leave(id, at: broker.now) }
        if process.consumer === self { process.consumer = nil }
        return ends
    }
}
