internal import KafkaPorts
internal import Streams

extension KafkaMember {
    // MARK: The group's answer

    /// Answers the group with no partitions: they are assigned once their starts are known.
    func answer(at now: Moment) {
        do throws(KafkaFault) {
            try consumer.assign([])
            membership.take(.answered)
        } catch { retryLater(error, at: now) }
    }

    /// Takes partitions over without reading them yet. The library drops a step of a partition if a later one is processed
    /// first, and says nothing: a pause amid its stops and starts could drop a start. So it answers a call after its stops,
    /// and where a commit's answer brings the starts, the pause comes before.
    private func assignPaused(_ starts: [PartitionOffset]) throws(KafkaFault) {
        try consumer.assign([])
        _ = try consumer.assignment()
        startsAwaitCommit = consumer.hasOpenCommit
        if startsAwaitCommit { _ = consumer.pause(starts.map(\.partition)) }
        try consumer.assign(starts)
        // What comes before, or of a partition that cannot be paused as the topic lost it, is dropped.
        if !startsAwaitCommit { _ = consumer.pause(starts.map(\.partition)) }
    }

    private func retryLater(_ fault: KafkaFault, at now: Moment) {
        membership.pause.fail(at: now)
        note(fault)
    }

    // MARK: Queries

    /// Asks for what is missing: the topics, the transactional id, the group's offsets.
    func advanceArrival(at now: Moment) throws {
        guard membership.isArriving, membership.pause.isOver(at: now), membership.query == nil else { return }
        if membership.state == .answering { answer(at: now) }
        // The answers may depend on the output that is still being written.
        guard !output.isBusy else { return }
        switch membership.state {
        case .askingTopics where settings.partitions == nil: try noteTopics([], at: now)
        case .askingTopics:
            let asksMarks = marked == nil && settings.guardsPositions
            membership.query = ports.queries.ask(asksMarks ? .topicsAndMarks : .topics)
        case .takingOver:
            // First ends what a predecessor left open under our name: it would hold back the offsets and the ledger's end.
            output.isTakingOver = true
            ports.writer.submit(.takeOver(membership.counts))
        case .askingOffsets: askOffsets()
        default: break
        }
    }

    /// Goes on asking for offsets that were held back, while other partitions start. The ends of those go first.
    func advanceOffsets(at now: Moment) {
        guard membership.state == .owning, !isQuerying, look == .none, membership.pause.isOver(at: now),
            partitions.all.contains(where: \.awaitsOffset), !partitions.all.contains(where: { $0.state == .asked })
        else { return }
        askOffsets()
    }

    private func askOffsets() {
        let missing = withoutOffset
        let asked = membership.offsets.next(of: missing.isEmpty ? partitions.numbers : missing)
        membership.query = ports.queries.ask(.offsets(asked, limit: membership.offsets.limit))
    }

    /// Partitions whose ledger is known here were ours, and nobody else's transaction holds them back: they come first.
    private var withoutOffset: [Int32] {
        let missing = partitions.all.filter(\.awaitsOffset).map(\.number)
        let wereOurs = missing.filter { ledgers.ends[$0] != nil && !standby.handedOver.contains($0) }
        return wereOurs + missing.filter { !wereOurs.contains($0) }
    }

    func takeAnswers(at now: Moment) throws {
        while let (id, answer) = ports.queries.nextAnswer() {
            if id == reader?.query {
                try takeEnds(answer, at: now)
            } else if id == standby.query {
                takeStandbyEnds(answer, at: now)
            } else if id == orphans.query {
                takeOrphan(answer, at: now)
            } else if look == .asked(id) {
                look = .none
                noteMarks(answer, at: now)
            } else if id == membership.query {
                membership.query = nil
                do throws(KafkaFault) { try take(answer.get(), at: now) } catch { try noteUnanswered(error, at: now) }
            }
        }
    }

    private func take(_ answer: BrokerAnswer, at now: Moment) throws(KafkaFault) {
        switch (answer, membership.state) {
        case (.topics(let topics), .askingTopics): try noteTopics(topics, at: now)
        case (.topicsAndMarks(let topics, let marked), .askingTopics):
            self.marked = marked
            try noteTopics(topics, at: now)
        case (.offsets(let offsets, let hasAny), .askingOffsets), (.offsets(let offsets, let hasAny), .owning):
            for offset in offsets { partitions.with(offset.partition) { $0.found(offset) } }
            groupHasOffsets = hasAny
            if membership.state == .askingOffsets { try own() }
        default: break
        }
    }

    /// A question that failed is asked again after a pause.
    private func noteUnanswered(_ fault: KafkaFault, at now: Moment) throws {
        let fault = consumer.explained(fault)
        guard fault.isRecoverable else { return try rideOut(fault) }
        let isHeldBack = fault.isTimeout && asksOffsetsAlone
        if isHeldBack, membership.offsets.noteTimeout(of: withoutOffset) { return }
        retryLater(fault, at: now)
        guard isHeldBack, membership.state == .askingOffsets else { return }
        // No offset can be had: the ledgers tell who holds them back.
        do throws(KafkaFault) { try own() } catch { note(error) }
    }

    private var asksOffsetsAlone: Bool {
        membership.state == .askingOffsets || membership.state == .owning
    }

    /// The old count would refuse keys that have moved, and write to output partitions that do not exist.
    private func noteTopics(_ topics: [TopicDescription], at now: Moment) throws(KafkaFault) {
        var counts: [String: Int] = [:]
        for topic in topics { counts[topic.name] = topic.partitions }
        if let started = settings.partitions {
            let topic = settings.requests
            // The group's leader may have asked a broker that knew of more partitions.
            if let last = partitions.numbers.last, last >= started {
                counts[topic] = max(counts[topic] ?? 0, Int(last) + 1)
            }
            if let change = settings.countsChanged(counts, started) { throw .fatal(change) }
        }
        membership.counts = counts.filter { $0.value > 0 }.mapValues { Int32(clamping: $0) }
        membership.take(.topicsKnown)
    }

    /// The loop hears of the partitions once an offset is known, or none can be had, and every commit is fenced by this moment.
    private func own() throws(KafkaFault) {
        let token = try consumer.token()
        try assignPaused(partitions.starts)
        membership.token = token
        membership.take(.offsetsKnown)
        partitions.takeAll(.announced)
        // Not new where all of them were the loop's already.
        let isNew = partitions.isEmpty || !partitions.all.allSatisfy(\.reported.isTaken)
        changes.append(.assigned(partitions.numbers, of: announcement, isNew: isNew))
    }

    // MARK: Once more

    /// Takes the same partitions over again, with all questions of an assignment. Those that are being revoked are left to
    /// their next owner.
    func takeOverAgain() {
        guard Membership.cell(membership.state, .takenOverAgain) != .ignored, !partitions.isEmpty else { return }
        forgetQueries()
        pending.drop()
        changes.removeAll { if case .assigned = $0 { true } else { false } }
        partitions.takeAll(.takenOverAgain)
        membership.take(.takenOverAgain)
    }
}
