internal import Kafka
internal import KafkaPorts
internal import Log
internal import Pipeline

/// An assignment on its way to the loop: the group has its answer, and the broker is asked where reading starts.
final class Arrival {
    /// answering → checking → preparing → asking; each is repeated until it succeeds.
    enum Step: DrawnState {
        /// The library does not have the partitions assigned yet, paused.
        case answering
        /// Whether the topics still have as many partitions.
        case checking(Question<[TopicDescription]>?)
        /// The unit is taken over: since when, or since that was last reported.
        case preparing(since: ContinuousClock.Instant)
        case asking(Question<GroupOffsets>?)

        func mayBecome(_ next: Step) -> Bool {
            switch (self, next) {
            case (.answering, .checking), (.checking, .checking), (.checking, .preparing): true
            case (.preparing, .preparing), (.preparing, .asking), (.asking, .asking): true
            default: false
            }
        }
    }

    let partitions: [Int32]
    var step = Step.answering { willSet { step.check(newValue) } }
    var pause = RetryPause()

    init(_ partitions: [Int32]) { self.partitions = partitions }

    var isAnswered: Bool { if case .answering = step { false } else { true } }

    /// Its question is asked again.
    func fail() {
        pause.fail()
        switch step {
        case .answering, .preparing: break
        case .checking: step = .checking(nil)
        case .asking: step = .asking(nil)
        }
    }
}

extension KafkaRecordLog {
    private static let sliceMilliseconds = 250

    /// Answers the group before asking the broker anything: a member that polls without answering holds up its group.
    /// The partitions are assigned at their beginnings and paused, and assigned again once their starts are known.
    ///
    /// Not at their ends: the library may look that offset up late and go on from it, silently skipping the requests
    /// before it. Records read again from the beginning are noticed (``AssignedPartitions/noteHandedOut(_:_:)``).
    func answer(_ assigned: [Int32]) {
        shelf.dropRecords()
        (restore, decisions, isRewindPending) = (nil, [:], false)
        let arrival = Arrival(assigned)
        takeOver(arrival)
        membership = .arriving(arrival, membership.metadata)
    }

    /// Assigns the partitions, paused; after a failure it is tried again.
    private func takeOver(_ arrival: Arrival) {
        #if DEBUG
            if settings.sabotage == .assignmentNotAnswered { return arrival.step = .checking(nil) }
        #endif
        do throws(KafkaFault) {
            try consumer.assignPaused(
                arrival.partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) }
            )
            arrival.step = .checking(nil)
        } catch {
            arrival.fail()
            note(error)
        }
    }

    /// Goes on for at most `wait` milliseconds, the group first: it may have revoked the partitions already.
    func advanceArrival(_ wait: Int) throws -> PollRound {
        switch nextEvent(0) {
        // Records read before the assignment no longer count.
        case nil, .message?, .endOfPartition?: break
        // The library reports only once what ends a member: it must not be missed here.
        case .notice(let fault)?: try rideOut(fault)
        case let change?: return try round(of: change)
        }
        served = .now
        // Its answers may depend on the unit that is still being written, and its questions use the unit's producer.
        guard let arrival = membership.arrival, !brokerUnit.isWriting else { return PollRound() }
        let slice = min(wait, Self.sliceMilliseconds)
        guard arrival.pause.isOver else {
            Questions.rest(min(slice, arrival.pause.leftMilliseconds))
            return PollRound()
        }
        do throws(any Error) {
            guard let member = try advance(arrival, slice) else { return PollRound() }
            membership = .owning(member)
            return announced(arrival.partitions)
        } catch let fault as KafkaFault {
            arrival.fail()
            try rideOut(consumer.explained(fault))
            return PollRound()
        }
    }

    /// Asks one question after the other. - Returns: the membership, once all are answered.
    private func advance(_ arrival: Arrival, _ slice: Int) throws -> GroupMetadata? {
        if case .answering = arrival.step { takeOver(arrival) }
        if case .checking(let asked) = arrival.step {
            if settings.partitions != nil {
                let question = asked ?? askTopics()
                arrival.step = .checking(question)
                guard let topics = try question.answer(slice) else { return nil }
                try checkPartitions(arrival.partitions, topics)
            }
            arrival.step = .preparing(since: .now)
        }
        // First end what a predecessor left open under our name: it would hold back the offsets and the ledger's end.
        if case .preparing(let since) = arrival.step, try prepareUnit(arrival, since, slice) {
            arrival.step = .asking(nil)
        }
        guard case .asking(let asked) = arrival.step else { return nil }
        let question = asked ?? askOffsets(arrival.partitions)
        arrival.step = .asking(question)
        // The group was served meanwhile, and may have ended the arrival.
        guard let offsets = try question.answer(slice), membership.arrival === arrival else { return nil }
        partitions.replace(offsets.own)
        groupHasOffsets = offsets.hasAny
        let member = try consumer.groupMetadata()
        try consumer.assignPaused(partitions.starts)
        return member
    }

    private func announced(_ assigned: [Int32]) -> PollRound {
        isRewindPending = false
        decisions = [:]
        generation += 1
        var round = PollRound()
        round.change = .assigned(assigned)
        return round
    }

    private func askTopics() -> Question<[TopicDescription]> {
        nonisolated(unsafe) let consumer = consumer
        return questions.ask { () throws(KafkaFault) in
            try unsafe consumer.topics(timeoutMilliseconds: Questions.lookupMilliseconds)
        }
    }

    private func askOffsets(_ partitions: [Int32]) -> Question<GroupOffsets> {
        nonisolated(unsafe) let consumer = consumer
        let topic = topic
        return questions.ask { () throws(KafkaFault) in
            let own = try unsafe consumer.committed(partitions, timeoutMilliseconds: Questions.lookupMilliseconds)
            if own.allSatisfy({ $0.offset != nil }) { return GroupOffsets(own: own, hasAny: true) }
            let topics = try unsafe consumer.topics(timeoutMilliseconds: Questions.lookupMilliseconds)
            let count = topics.first { $0.name == topic }?.partitions ?? 0
            let all = try unsafe consumer.committed(
                Array(0..<Int32(clamping: count)),
                timeoutMilliseconds: Questions.lookupMilliseconds
            )
            return GroupOffsets(own: own, hasAny: all.contains { $0.offset != nil })
        }
    }

    /// One slice of taking over the transactional id; the next call goes on where this one stopped.
    private func prepareUnit(_ arrival: Arrival, _ since: ContinuousClock.Instant, _ slice: Int) throws -> Bool {
        do {
            try brokerUnit.prepare(timeoutMilliseconds: max(1, slice))
            return true
        } catch let fault as KafkaFault where fault.isTimeout && fault.isRecoverable {
            // Not reported before it takes long.
            if ContinuousClock.now - since >= .milliseconds(settings.prepareMilliseconds) {
                arrival.step = .preparing(since: .now)
                note(fault)
            }
            return false
        }
    }

    /// The old count would refuse keys that have moved, and write to output partitions that do not exist.
    private func checkPartitions(_ assigned: [Int32], _ topics: [TopicDescription]) throws(KafkaFault) {
        guard let started = settings.partitions else { return }
        var counts: [String: Int] = [:]
        for topic in topics { counts[topic.name] = topic.partitions }
        // The group's leader may have asked a broker that knew of more partitions.
        if let last = assigned.max(), last >= started { counts[topic] = max(counts[topic] ?? 0, Int(last) + 1) }
        if let change = TopicCheck.changed(counts, settings.topics, from: started) { throw .fatal(change) }
        brokerUnit.partitionCounts = counts.filter { $0.value > 0 }.mapValues { Int32(clamping: $0) }
    }
}

/// The group's committed offsets.
struct GroupOffsets: Sendable {
    let own: [CommittedOffset]
    /// Whether any partition has one.
    let hasAny: Bool
}
