internal import Kafka
internal import Pipeline

/// An assignment on its way to the loop: the group has its answer, and the broker is asked where reading starts.
struct Arrival {
    let partitions: [Int32]
    /// Whether the library has the partitions assigned, paused.
    var isAnswered = false
    var hasChecked = false
    var isUnitReady = false
    var topics: Question<[TopicDescription]>?
    var offsets: Question<GroupOffsets>?
    var pause = RetryPause()
    /// When a slow takeover of the unit was last reported.
    var unitSince = ContinuousClock.now

    init(_ partitions: [Int32]) { self.partitions = partitions }
}

extension KafkaRecordLog {
    private static let sliceMilliseconds = 250

    /// Answers the group before asking the broker anything: a member that polls without answering holds up its group.
    /// The partitions are assigned at their beginnings and paused, and assigned again once their starts are known.
    ///
    /// Not at their ends: the library may look that offset up late and go on from it, silently skipping the requests
    /// before it. Records read again from the beginning are noticed (``AssignedPartitions/take(_:_:)``).
    func answer(_ assigned: [Int32]) {
        shelf.dropRecords()
        (restore, started, judged, isRewindPending) = (nil, [], [], false)
        var arrival = Arrival(assigned)
        takeOver(&arrival)
        self.arrival = arrival
    }

    /// Assigns the partitions, paused; after a failure it is tried again.
    private func takeOver(_ arrival: inout Arrival) {
        #if DEBUG
            if settings.sabotage == .assignmentNotAnswered { return arrival.isAnswered = true }
        #endif
        do throws(KafkaFault) {
            try consumer.assignPaused(
                arrival.partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) }
            )
            arrival.isAnswered = true
        } catch {
            arrival.pause.fail()
            note(error)
        }
    }

    /// Goes on for at most `wait` milliseconds, the group first: it may have revoked the partitions already.
    func advanceArrival(_ wait: Int) throws -> PollRound {
        switch nextEvent(0) {
        // Records read before the assignment no longer count.
        case nil, .record?, .endOfPartition?: break
        // The library reports only once what ends a member: it must not be missed here.
        case .notice(let fault)?: try rideOut(fault)
        case let change?: return try round(of: change)
        }
        served = .now
        guard var arrival else { return PollRound() }
        let slice = min(wait, Self.sliceMilliseconds)
        guard arrival.pause.isOver else {
            Questions.rest(min(slice, arrival.pause.leftMilliseconds))
            return PollRound()
        }
        do throws(any Error) {
            let isDone = try advance(&arrival, slice)
            self.arrival = isDone ? nil : arrival
            return isDone ? announced(arrival.partitions) : PollRound()
        } catch let fault as KafkaFault {
            arrival.pause.fail()
            (arrival.topics, arrival.offsets) = (nil, nil)
            self.arrival = arrival
            try rideOut(consumer.explained(fault))
            return PollRound()
        }
    }

    /// Asks one question after the other. - Returns: whether all are answered.
    private func advance(_ arrival: inout Arrival, _ slice: Int) throws -> Bool {
        if !arrival.isAnswered { takeOver(&arrival) }
        guard arrival.isAnswered else { return false }
        if !arrival.hasChecked, settings.partitions != nil {
            let question = arrival.topics ?? askTopics()
            arrival.topics = question
            guard let topics = try question.answer(slice) else { return false }
            try checkPartitions(arrival.partitions, topics)
        }
        if !arrival.hasChecked { arrival.unitSince = .now }
        arrival.hasChecked = true
        // First end what a predecessor left open under our name: it would hold back the offsets and the ledger's end.
        if !arrival.isUnitReady { arrival.isUnitReady = try prepareUnit(&arrival, slice) }
        guard arrival.isUnitReady else { return false }
        let question = arrival.offsets ?? askOffsets(arrival.partitions)
        arrival.offsets = question
        guard let offsets = try question.answer(slice) else { return false }
        partitions.replace(offsets.own)
        groupHasOffsets = offsets.hasAny
        member = try consumer.groupMetadata()
        try consumer.assignPaused(partitions.starts)
        return true
    }

    private func announced(_ assigned: [Int32]) -> PollRound {
        isRewindPending = false
        (started, judged) = ([], [])
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
    private func prepareUnit(_ arrival: inout Arrival, _ slice: Int) throws -> Bool {
        do {
            try unit.prepare(timeoutMilliseconds: max(1, slice))
            return true
        } catch let fault as KafkaFault where fault.isTimeout && fault.isRecoverable {
            // Not reported before it takes long.
            if ContinuousClock.now - arrival.unitSince >= .milliseconds(settings.prepareMilliseconds) {
                arrival.unitSince = .now
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
        unit.partitionCounts = counts.filter { $0.value > 0 }.mapValues { Int32(clamping: $0) }
    }
}

/// The group's committed offsets.
struct GroupOffsets: Sendable {
    let own: [CommittedOffset]
    /// Whether any partition has one.
    let hasAny: Bool
}
