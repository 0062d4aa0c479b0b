internal import Kafka
internal import Pipeline

/// An assignment on its way to the loop: the group has its answer, and the broker is asked where to begin.
struct Arrival {
    let partitions: [Int32]
    /// Whether the partitions are ours at the library, paused.
    var isAnswered = false
    var hasChecked = false
    var isUnitReady = false
    var topics: Question<[TopicDescription]>?
    var offsets: Question<GroupOffsets>?
    var pause = RetryPause()
    /// When taking over the unit was last told to take long.
    var unitSince = ContinuousClock.now

    init(_ partitions: [Int32]) { self.partitions = partitions }
}

extension KafkaRecordLog {
    static let lookupMilliseconds = 5_000
    private static let sliceMilliseconds = 250

    /// The group waits for nobody's questions: partitions are taken at their beginnings and paused, and taken again where
    /// they begin once that is known. A member that polls without answering would hold its group for as long as it asks.
    ///
    /// Not at their ends: the library may look that offset up late, and go on from it. Requests that lie before it would be
    /// skipped without a word; those that come once more from the beginning are seen (``AssignedPartitions/take(_:_:)``).
    func answer(_ assigned: [Int32]) {
        shelf.dropRecords()
        (restore, started, judged, isRewindPending) = (nil, [], [], false)
        var arrival = Arrival(assigned)
        takeOver(&arrival)
        self.arrival = arrival
    }

    /// Takes the partitions, paused; where that fails it is tried again.
    private func takeOver(_ arrival: inout Arrival) {
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

    /// Goes on with it for `wait` milliseconds at most, the group first: it may have taken the partitions back already.
    func advanceArrival(_ wait: Int) throws -> PollRound {
        switch nextEvent(0) {
        // Whatever was read before does not count any more.
        case nil, .record?, .endOfPartition?: break
        // The library tells what ends a member once: it must not be missed here.
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

    /// One question after the other. - Returns: whether all are answered.
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
        // First what a predecessor left open under our name: it would hold back the offsets and the ledger's end.
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
            try unsafe consumer.topics(timeoutMilliseconds: Self.lookupMilliseconds)
        }
    }

    private func askOffsets(_ partitions: [Int32]) -> Question<GroupOffsets> {
        nonisolated(unsafe) let consumer = consumer
        let topic = topic
        return questions.ask { () throws(KafkaFault) in
            let own = try unsafe consumer.committed(partitions, timeoutMilliseconds: Self.lookupMilliseconds)
            if own.allSatisfy({ $0.offset != nil }) { return GroupOffsets(own: own, hasAny: true) }
            let topics = try unsafe consumer.topics(timeoutMilliseconds: Self.lookupMilliseconds)
            let count = topics.first { $0.name == topic }?.partitions ?? 0
            let all = try unsafe consumer.committed(
                Array(0..<Int32(clamping: count)),
                timeoutMilliseconds: Self.lookupMilliseconds
            )
            return GroupOffsets(own: own, hasAny: all.contains { $0.offset != nil })
        }
    }

    /// A slice of taking over the transactional id, which goes on where the last one stopped.
    private func prepareUnit(_ arrival: inout Arrival, _ slice: Int) throws -> Bool {
        do {
            try unit.prepare(timeoutMilliseconds: max(1, slice))
            return true
        } catch let fault as KafkaFault where fault.isTimeout && fault.isRecoverable {
            // No news before it takes long.
            if ContinuousClock.now - arrival.unitSince >= .milliseconds(settings.prepareMilliseconds) {
                arrival.unitSince = .now
                note(fault)
            }
            return false
        }
    }

    /// Judging on by the old count would refuse keys that have moved, and write where no output topic has a partition.
    private func checkPartitions(_ assigned: [Int32], _ topics: [TopicDescription]) throws(KafkaFault) {
        guard let started = settings.partitions else { return }
        var counts: [String: Int] = [:]
        for topic in topics { counts[topic.name] = topic.partitions }
        // The group's leader may have asked a broker that knew more.
        if let last = assigned.max(), last >= started { counts[topic] = max(counts[topic] ?? 0, Int(last) + 1) }
        if let change = TopicCheck.changed(counts, settings.topics, from: started) { throw .fatal(change) }
        unit.partitionCounts = counts.filter { $0.value > 0 }.mapValues { Int32(clamping: $0) }
    }
}

/// What the group has committed.
struct GroupOffsets: Sendable {
    let own: [CommittedOffset]
    /// Of any partition.
    let hasAny: Bool
}
