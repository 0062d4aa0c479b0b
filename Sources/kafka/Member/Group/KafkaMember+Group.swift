package import KafkaPorts
internal import Streams

extension KafkaMember {
    /// Takes an event of the group's consumer. Records are kept for the next poll, where there is room.
    func take(_ event: GroupEvent, at now: Moment) throws {
        switch event {
        case .record(let record, let bytes): keep(.record(record, bytes: bytes))
        case .end(let end): keep(.end(end))
        case .assigned(let assigned): noteAssigned(assigned, at: now)
        case .revoked: noteGone(isLost: false, at: now)
        case .lost: noteGone(isLost: true, at: now)
        case .fault(let fault):
            if fault.isFencedMember, (try? groupReader.replaceFenced(at: now)) == true {
                noteReplaced(at: now)
                return settings.trouble(fault)
            }
            try rideOut(fault)
        case .committed(let id, let fault): try noteCommit(id, fault, at: now)
        }
    }

    private func keep(_ event: PendingEvents.Event) {
        guard isWanted(event.partition), !pending.keep(event) else { return }
        // No room: the records are dropped and read again.
        rewindReading()
    }

    /// Rewinds every partition: records handed out since the last commit stay with the loop, and what is pending, and
    /// what comes, is read again.
    func rewindReading() {
        pending.drop()
        partitions.takeAll(.rewind)
    }

    /// Answers the group before asking the brokers anything: a member that polls without answering holds up its group.
    private func noteAssigned(_ assigned: [Int32], at now: Moment) {
        guard !membership.isLeaving else {
            // Given back with the rest.
            try? consumer.assign([])
            return
        }
        forgetQueries()
        orphans = Orphans()
        membership.take(.assigned)
        pending.drop()
        partitions.replace(assigned)
        endStandby(of: assigned)
        answer(at: now)
    }

    /// The next owner takes the partitions over, even where they were to be taken over again here.
    private func noteGone(isLost: Bool, at now: Moment) {
        forgetQueries()
        membership.take(.gone)
        pending.drop()
        partitions.takeAll(.gone)
        output.hurry(at: now)
        if isLost {
            membership.noteLost()
            output.noteLost()
        }
        // The loop hears of the same partitions once: revoked ones may become lost.
        changes.removeAll()
        changes.append(isLost ? .lost(partitions.numbers) : .revoked(partitions.numbers))
    }

    /// Late answers to these, and damage that was found, belong to an assignment that is over.
    func forgetQueries() {
        damaged.removeAll()
        for query in [membership.query, orphans.query, standby.query] { if let query { ports.queries.forget(query) } }
        if case .asked(let query) = look { ports.queries.forget(query) }
        (membership.query, orphans.query, standby.query, look) = (nil, nil, nil, .none)
        standby.ends = [:]
        closeReader()
    }

    /// Replaces a consumer whose certificate files have changed. The partitions count as lost; a static member gets the
    /// same ones back. The producer follows when they are taken over.
    package func renew(at now: Moment) {
        guard consumer.isOutdated, membership.state != .expelled, (try? groupReader.replace()) != nil else { return }
        standby.close()
        noteReplaced(at: now)
    }

    /// The new consumer joins once the loop has released the old one's partitions: an assignment that came before that
    /// would be dropped with them.
    private func noteReplaced(at now: Moment) {
        noteGone(isLost: true, at: now)
        membership.take(.expelled)
    }

    /// Answers a revoked or lost assignment: gives the partitions back. After a fault it is called again.
    package func release() throws {
        // The answer may fail and be given again: from here on nothing is committed.
        membership.token = nil
        if membership.state == .expelled { try consumer.subscribe() } else { try consumer.unassign() }
        membership.take(.released)
        changes.removeAll()
        pending.drop()
        partitions.replace([])
    }

    // MARK: Faults

    func note(_ fault: KafkaFault) {
        lastTrouble = fault
        settings.trouble(fault)
    }

    /// - Throws: a fault that needs an operator.
    func rideOut(_ fault: KafkaFault) throws {
        if fault.isFencedMember {
            throw fault.ofNamesake("the member \(settings.stableID) of the group", "the group a name of its own")
        }
        guard fault.isRecoverable || fault.isPollGap || fault.isOffsetGone else {
            throw settings.explain(fault, settings.requests)
        }
        note(fault)
        if fault.isOffsetGone { noteOffsetGone(of: fault.partition) }
        if fault.isDamage { noteDamage(fault) }
    }

    /// Retention deleted the next record to read, or the topic was cut: the partitions are taken over again, which
    /// shows what the positions say. Those that have not started are asked for their ends, and sought, anyway.
    private func noteOffsetGone(of number: Int32?) {
        let gone = number.map { [$0] } ?? partitions.numbers
        let isRead = gone.contains { number in
            guard let state = partitions[number]?.state else { return false }
            return Partition.cell(state, .offsetGone) != .ignored
        }
        if isRead { takeOverAgain() }
    }

    /// The library skips bytes that did not arrive as they were written: they are read again, and after the third time at
    /// one place the partition is held.
    private func noteDamage(_ fault: KafkaFault) {
        guard let number = fault.partition, let partition = partitions[number] else { return rewindReading() }
        pending.drop([number])
        // Several faults may report one damaged batch until it is read again.
        guard partition.state == .reading else { return }
        let isBeyondDoubt = partitions.with(number) { $0.damage.note(at: $0.next ?? 0) } ?? false
        partitions.take(isBeyondDoubt ? .damaged : .rewind, number)
        guard isBeyondDoubt else { return }
        _ = consumer.pause([number])
        damaged.append(PartitionDamage(partition: number, cause: fault.message, isLedger: false))
    }

    func offsetWentBack(_ place: RecordPlace, at now: Moment) {
        let next = partitions[place.partition]?.next ?? 0
        note(.offsetGone("offsets of partition \(place.partition) went back from \(next) to \(place.offset)"))
        takeOverAgain()
    }
}
