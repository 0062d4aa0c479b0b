internal import AppAttest
internal import Streams

extension BatchLoop {
    /// Takes what has happened to partitions.
    ///
    /// - Returns: whether anything has.
    func take(_ events: [PartitionEvent]) -> Bool {
        var hasChanged = false
        for event in events {
            switch event {
            case .assigned(let partitions, let announcement, let isNew):
                begin(.assigned, partitions, isNew: isNew)
                assignment = .taking(partitions, of: announcement)
            case .lost(let partitions):
                begin(.lost, partitions)
                // Another worker may own a lost partition already: nothing in flight may be committed.
                drop(.rebalance)
                assignment = .losing(partitions)
            case .revoked(let partitions):
                begin(.revoked, partitions)
                // The group waits: only the oldest batch may still finish, and only within a limit.
                inFlight.removeLast(max(0, inFlight.count - 1))
                let end = wallClock().map {
                    EvaluationTime(milliseconds: $0.milliseconds + options.revokeMilliseconds)
                }
                assignment = .revoking(partitions, until: end)
            case .ledger, .ledgerCopied, .ledgerDropped, .ledgerGiven: hasChanged = takeLedger(event) || hasChanged
            case .started(let partition, let report): note(report, of: partition)
            case .held(let partition, let sentence, let isNew): noteHeld(partition, sentence, isNew: isNew)
            }
            if case .ledger = event { continue }
            hasChanged = true
        }
        return hasChanged
    }

    private func begin(_ kind: Rebalance, _ partitions: [Int32], isNew: Bool = true) {
        pendingRound = .none
        forgetRestoration()
        assert(assignment.restoration == nil && isWritingOldest, "a change takes back nothing that is being written")
        guard isNew else { return }
        tally.rebalances[kind, default: 0] += 1
        notice(AssignmentNotice(kind, partitions))
    }

    /// Gives up the batch that delays a revocation too long: the next owner does it again.
    func limitRevocation() {
        guard case .revoking(_, let end?) = assignment, !inFlight.isEmpty, let now = wallClock(), now >= end,
            // What is being written hurries by itself.
            writing.batch == nil
        else { return }
        drop(.rebalance)
    }

    /// - Returns: whether a change was pending.
    func finishChange() throws -> Bool {
        precondition(inFlight.isEmpty && writing.batch == nil, "partitions change hands with nothing in flight")
        switch assignment {
        case .settled, .restoring: return false
        case .taking(let partitions, let announcement):
            // The member may fail and be asked again: no state changes before it has begun.
            try member?.restore(kept: Set(partitions.filter(isKnown)), of: announcement)
            for partition in partitions { openLedger(of: partition) }
            let restoration = Restoration(
                partitions: partitions,
                of: announcement,
                ledgerPartition: settings.ledgerPartition
            )
            if !streams.hasLedgers { restoration.noteGiven(partitions) }
            assignment = .restoring(restoration)
        case .revoking(let partitions, _):
            let held = held
            for partition in partitions { keepLedger(of: partition, isHeld: held[partition] != nil) }
            try giveBack(partitions)
        case .losing(let partitions):
            // Another worker moves these counters now: the counters remembered here would let old assertions back in.
            for partition in partitions { ledgers[settings.ledgerPartition(partition)] = nil }
            try giveBack(partitions)
        }
        return true
    }

    private func giveBack(_ partitions: [Int32]) throws {
        // From here on the ledger's marks may be another owner's.
        doubted = []
        cut.bisection.forget(partitions)
        schedule.forget(partitions)
        clocks.forget(partitions)
        try member?.release()
        assignment = .settled
        assert(pendingRound.isNone && doubted.isEmpty, "nothing is left of partitions given back")
    }

    /// Whether there is a ledger to go on with.
    private func isKnown(_ partition: Int32) -> Bool {
        let number = settings.ledgerPartition(partition)
        return ledgers[number] != nil || kept.has(number, at: uptime())
    }

    func openLedger(of partition: Int32) {
        let number = settings.ledgerPartition(partition)
        // What is read from its beginning may be older than the present delivery: a late record of at-least-once delivery.
        let known = ledgers[number] ?? kept.take(number)
        standby.drop(number)
        var ledger = known ?? PartitionLedger()
        ledger.readsInOrder = known != nil && streams.transaction.isAtomic
        ledgers[number] = ledger
    }

    /// Records that the topic lost may have been replaced by another owner's: the two ledgers are not mixed.
    func forget(_ partition: Int32) {
        let number = settings.ledgerPartition(partition)
        ledgers[number] = nil
        kept.drop(number)
    }

    private func keepLedger(of partition: Int32, isHeld: Bool) {
        let number = settings.ledgerPartition(partition)
        guard let ledger = ledgers.removeValue(forKey: number), !isHeld else { return }
        kept.keep(number, ledger, at: uptime())
    }

    /// Half-read ledgers are useless: what is announced next is read from the beginning.
    func forgetRestoration() {
        guard let restoration = assignment.restoration else { return }
        for partition in restoration.waiting { ledgers[settings.ledgerPartition(partition)] = nil }
        assignment = .settled
    }
}
