internal import DeviceLab
internal import KafkaPorts
internal import Streams

extension SimulatedConsumer {
    /// What the library's own thread learns of the group. While a change is unanswered it goes no further, and the group
    /// waits for this member.
    func observe() {
        guard isSubscribed, !isClosed, !isFenced else { return }
        guard let id = memberID else { return joinIfFree() }
        let status = broker.group.status(id)
        guard hasLearned(of: status) else { return }
        switch status {
        case .fenced:
            broker.counts.add(.fencedInstance)
            (isFenced, process.mayEnd) = (true, true)
            process.fences.append(broker.now)
            faults.append(KafkaFault(.fencedInstanceId, "another member has joined with this name"))
            guard let assigned, !assigned.isEmpty else { return }
            isLossKnown = true
            if unanswered == nil { reportLoss(of: assigned) }
        case .unknown: lose()
        case .rebalancing: rebalance(id)
        case .stable(let generation, let partitions):
            // Generation −1: joined, and waiting for the others.
            guard generation >= 0, assigned == nil, due == nil, unanswered == nil else { return }
            (assigned, self.generation) = (partitions, generation)
            due = (.assigned(partitions), broker.now)
        }
    }

    /// Heartbeats are some time apart; the answer to a join comes at once. Without transactions nothing fences a member that
    /// has not heard yet.
    private func hasLearned(of status: SimulatedGroup.Status) -> Bool {
        if case .stable = status {
            learns = nil
            return true
        }
        if learns == nil {
            let isRough = process.isAtomic && process.chances.retriable > 0 && process.chance(0.7)
            learns = broker.now + (isRough ? Int64(process.random.below(1_000)) : 0)
        }
        guard let learns, broker.now >= learns else { return false }
        return true
    }

    /// Partitions are assigned, and the application has nothing to answer.
    var hasAnsweredAssignment: Bool {
        !(assigned ?? []).isEmpty && due == nil && unanswered == nil && !isFenced
    }

    /// After the application has let everything go.
    private func joinIfFree() {
        guard assigned == nil, due == nil, unanswered == nil else { return }
        isLossKnown = false
        let id = broker.join(name: process.name, instance: process.instance)
        memberID = id
        broker.counts.note("\(broker.now) \(process.name) joins as \(id)")
        // The answer comes too late: the library joins once more, and the coordinator takes that for another process.
        guard process.instance != nil, process.strikes(.fencedMember, process.chances.client.fencedMember) else {
            return
        }
        _ = broker.join(name: process.name, instance: process.instance)
    }

    private func rebalance(_ id: Int) {
        if let unanswered {
            if unanswered.isAssigned { broker.counts.add(.revokeHidden) }
            return
        }
        // An assignment that the application has not heard of is given back without it.
        if let due, !due.change.isAssigned { return }
        let wasHeard = due == nil
        due = nil
        guard let assigned, !assigned.isEmpty, wasHeard else {
            self.assigned = nil
            return broker.group.rejoin(id, at: broker.now)
        }
        steps.pauseForRebalance()
        due = (.revoked(assigned), broker.now)
    }

    /// The group does not know this member any more.
    func lose() {
        memberID = nil
        guard let assigned, !assigned.isEmpty else {
            if let unanswered, unanswered.isAssigned { return isLossKnown = true }
            if due?.change.isAssigned == true { due = nil }
            return self.assigned = nil
        }
        isLossKnown = true
        if let due, due.change.isAssigned {
            (self.due, self.assigned, isLossKnown) = (nil, nil, false)
            return
        }
        // Reported once the change before it is answered.
        if unanswered == nil { reportLoss(of: assigned) }
    }

    private func reportLoss(of partitions: [Int32]) {
        if due != nil { broker.counts.note("\(process.name): revoked has become lost") }
        steps.pauseForRebalance()
        let isEarly = process.strikes(.lostBeforeEvent, process.chances.client.lostBeforeEvent)
        due = (.lost(partitions), broker.now + (isEarly ? 1 + Int64(process.random.below(500)) : 0))
    }

    /// The application has answered.
    func answer(with partitions: [Int32], releases: Bool) {
        if !partitions.isEmpty {
            answers += 1
            if answers > 1 { broker.counts.add(.announcedAnew) }
        }
        guard let change = unanswered else { return }
        switch change {
        case .assigned:
            unanswered = nil
            guard isLossKnown else { return }
            if let assigned, !assigned.isEmpty { reportLoss(of: assigned) } else { assigned = nil }
        // The library waits for the partitions to be given back.
        case .revoked, .lost:
            guard releases else { return }
            (unanswered, assigned) = (nil, nil)
            if isLossKnown { memberID = nil }
            isLossKnown = false
            if let memberID { broker.group.rejoin(memberID, at: broker.now) }
        }
    }
}

extension SimulatedConsumer {
    func assign(_ starts: [PartitionOffset]) throws(KafkaFault) {
        guard process.enter() else { throw .ofDeadProcess }
        observe()
        for start in starts where !(assigned ?? []).contains(start.partition) {
            process.violate("takes partition \(start.partition) over, which the group has not given to it")
        }
        steps.assign(starts.map { ($0.partition, $0.offset) })
        watch.assigned(starts.map(\.partition))
        stopped = [:]
        answer(with: starts.map(\.partition), releases: false)
    }

    func unassign() throws(KafkaFault) {
        guard process.enter() else { throw .ofDeadProcess }
        steps.assign([])
        watch.assigned([])
        answer(with: [], releases: true)
        observe()
    }

    func assignment() throws(KafkaFault) -> Set<Int32> {
        steps.passMain()
        return Set(steps.assigned)
    }

    func pause(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        guard process.enter() else { return [:] }
        watch.paused(partitions)
        var (known, faults) = known(partitions)
        known.removeAll { partition in
            guard process.strikes(.pauseIgnored, process.chances.client.pauseIgnored) else { return false }
            // It is lost on its way, or the client misses the partition at the moment.
            if process.random.below(2) == 0 {
                faults[partition] = KafkaFault(.unknownPartition, "partition \(partition) is unknown")
            }
            return true
        }
        _ = steps.call(known.map { ($0, .pause(true, byLibrary: false)) })
        return faults
    }

    func resume(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        guard process.enter() else { return [:] }
        if process.reader?.isReading == true { broker.counts.add(.startedWhileRestoring) }
        let (known, faults) = known(partitions)
        watch.resumed(known)
        _ = steps.call(known.map { ($0, .pause(false, byLibrary: false)) })
        for partition in known where steps.hasLostStart(partition) {
            process.violate("has made the library lose the start of partition \(partition)")
        }
        return faults
    }

    func seek(_ starts: [PartitionOffset], limit milliseconds: Int) -> [Int32: SeekFault] {
        guard process.enter() else { return [:] }
        let (known, faults) = known(starts.map(\.partition))
        let sought = starts.filter { known.contains($0.partition) }
        let isLate = process.strikes(.seekTimedOut, process.chances.client.seekTimedOut)
        let replies = steps.call(sought.map { ($0.partition, .seek($0.offset)) }, waits: !isLate)
        var outcome = faults.mapValues { SeekFault.unknown($0) }
        for start in sought {
            switch replies[start.partition] {
            case .done?:
                watch.sought(start.partition)
                stopped[start.partition] = nil
            case .notStarted?:
                outcome[start.partition] = .notStarted
                noteStopped(start.partition)
                if steps.hasLostStart(start.partition) {
                    process.violate("has made the library lose the start of partition \(start.partition)")
                }
            case .overtaken?: outcome[start.partition] = .overtaken
            case nil:
                outcome[start.partition] = .timedOut
                watch.soughtLate(start.partition)
            }
            if start.offset > broker.committed[start.partition, default: 0] { broker.counts.add(.appliedSkipped) }
        }
        return outcome
    }

    /// Only a new assignment starts a partition whose offset was gone.
    private func noteStopped(_ partition: Int32) {
        guard steps.partition(partition).isGone else { return }
        let (since, seeks) = stopped[partition] ?? (broker.now, 0)
        stopped[partition] = (since, seeks + 1)
        guard seeks >= 25, broker.now - since > 40_000 else { return }
        process.violate("seeks partition \(partition) again and again, which has stopped")
        stopped[partition] = nil
    }

    func wake(_ partitions: [Int32], limit milliseconds: Int) {
        guard process.enter() else { return }
        steps.wake(partitions)
    }

    /// Partitions that the client has heard of, and the faults of the others.
    private func known(_ partitions: [Int32]) -> (known: [Int32], faults: [Int32: KafkaFault]) {
        let known = partitions.filter { broker.partitions.contains($0) }
        var faults: [Int32: KafkaFault] = [:]
        for partition in partitions where !known.contains(partition) {
            faults[partition] = KafkaFault(.unknownPartition, "partition \(partition) is unknown")
        }
        return (known, faults)
    }

    /// Whether a partition that the application has resumed has a record to give, and nothing of the world keeps it.
    func mayDeliver(_ partition: Int32) -> Bool {
        guard steps.assigned.contains(partition), !isFenced, commits.isEmpty else { return false }
        let state = steps.partition(partition)
        // A partition whose offset is gone has stopped, as a fault has said; a first offset is being looked up.
        guard !state.isGone, state.state != .lookup, state.state != .query else { return false }
        return !broker.requests(partition, from: max(0, state.next)).isEmpty
    }
}
