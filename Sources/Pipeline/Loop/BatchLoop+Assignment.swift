internal import AppAttest
internal import Log

extension BatchLoop {
    func begin(_ change: AssignmentChange) {
        leftover = .none
        forgetRestoration()
        if isNews(change) {
            tally.rebalances[change.kind, default: 0] += 1
            notice(AssignmentNotice(change))
        }
        switch change {
        case .assigned(let partitions): assignment = .taking(partitions)
        // Another worker may own a lost partition already: nothing in flight may be committed.
        case .lost(let partitions):
            drop(.rebalance)
            assignment = .losing(partitions)
        // The group waits: only the oldest batch may still finish, and only within a limit.
        case .revoked(let partitions):
            inFlight.removeLast(max(0, inFlight.count - 1))
            let end = wallClock().map {
                EvaluationTime(milliseconds: $0.milliseconds + options.revokeMilliseconds)
            }
            assignment = .revoking(partitions, until: end)
        }
    }

    /// False for partitions that an abort takes over again.
    private func isNews(_ change: AssignmentChange) -> Bool {
        guard case .assigned(let partitions) = change, let assigned else { return true }
        return !assigned.isSuperset(of: partitions)
    }

    /// Gives up the batch that delays a revocation too long: the next owner does it again.
    func limitRevocation() {
        guard case .revoking(_, let end?) = assignment, !inFlight.isEmpty, let now = wallClock(), now >= end,
            // The unit hurries by itself.
            writing.batch == nil
        else { return }
        drop(.rebalance)
    }

    /// - Returns: whether a change was pending.
    func finishChange() throws -> Bool {
        switch assignment {
        case .settled, .restoring: return false
        case .taking(let partitions):
            // The log may fail and be asked again: no state changes before it has begun.
            try log.ledgers?.beginRestore(partitions, kept: Set(partitions.filter(isKnown)))
            release(partitions, becauseGone: false)
            for partition in partitions { openLedger(of: partition) }
            let restoration = Restoration(partitions: partitions, ledgerPartition: settings.ledgerPartition)
            if log.ledgers == nil { restoration.noteGiven(partitions) }
            assignment = .restoring(restoration)
            assigned = Set(partitions).union(assigned ?? [])
            restorations += 1
        case .revoking(let partitions, _):
            for partition in partitions { keepLedger(of: partition) }
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
        release(partitions, becauseGone: true)
        assigned?.subtract(partitions)
        // The group is about to say what is ours now.
        if assigned?.isEmpty ?? false { assigned = nil }
        bisection.forget(partitions)
        clocks.forget(partitions)
        try log.source.member?.releaseRevoked()
        assignment = .settled
    }

    /// Whether there is a ledger to go on with.
    private func isKnown(_ partition: Int32) -> Bool {
        let number = settings.ledgerPartition(partition)
        return ledgers[number] != nil || kept.has(number, at: uptime())
    }

    func openLedger(of partition: Int32) {
        let number = settings.ledgerPartition(partition)
        guard ledgers[number] == nil else { return }
        ledgers[number] = kept.take(number) ?? PartitionLedger()
    }

    /// Records that the topic lost may have been replaced by another owner's: the two ledgers are not mixed.
    func forget(_ partition: Int32) {
        let number = settings.ledgerPartition(partition)
        ledgers[number] = nil
        kept.drop(number)
    }

    private func keepLedger(of partition: Int32) {
        let number = settings.ledgerPartition(partition)
        guard let ledger = ledgers.removeValue(forKey: number), held[partition] == nil else { return }
        kept.keep(number, ledger, at: uptime())
    }

    /// Half-read ledgers are useless.
    func forgetRestoration() {
        guard let restoration = assignment.restoration else { return }
        for partition in restoration.waiting { ledgers[settings.ledgerPartition(partition)] = nil }
        assignment = .settled
    }
}
