internal import AppAttest
internal import Log

extension BatchLoop {
    func begin(_ change: AssignmentChange) {
        leftover = .none
        forgetRestoration()
        switch change {
        case .assigned(let partitions): assignment = .taking(partitions)
        // Another worker may own a lost partition already: nothing in flight may be committed.
        case .lost(let partitions):
            drop()
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

    /// Gives up the batch that delays a revocation too long: the next owner does it again.
    func limitRevocation() {
        guard case .revoking(_, let end?) = assignment, !inFlight.isEmpty, let now = wallClock(), now >= end,
            // The unit hurries by itself.
            writing.batch == nil
        else { return }
        drop()
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
            let restoration = Restoration(partitions: partitions)
            if log.ledgers == nil { restoration.noteGiven(partitions) }
            assignment = .restoring(restoration)
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
        release(partitions, becauseGone: true)
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

    private func openLedger(of partition: Int32) {
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

// MARK: - Restore

extension BatchLoop {
    /// Reads more of the ledgers; lanes decode the records, the loop applies them in order.
    func restore(_ restoration: Restoration, waitMilliseconds: Int) throws -> Bool {
        var moved = applyRestored(restoration)
        while let partition = restoration.whole {
            try start(partition, of: restoration)
            moved = true
        }
        if restoration.waiting.isEmpty { assignment = .settled }
        guard restoration.mayRead, let ledgers = log.ledgers else { return moved }
        let round = try ledgers.restore(Restoration.chunkRecords, waitMilliseconds: moved ? 0 : waitMilliseconds)
        if let change = round.change {
            begin(change)
            return true
        }
        for damage in round.damaged { try quarantine(damage.partition, damage.sentence) }
        restoration.remaining = round.remaining
        for partition in round.dropped {
            forget(partition)
            openLedger(of: partition)
        }
        if !round.records.isEmpty { decode(round.records, of: restoration) }
        restoration.noteGiven(round.damaged.map(\.partition))
        restoration.noteGiven(round.isComplete ? restoration.partitions : round.completed)
        let hasNews = !round.completed.isEmpty || round.isComplete || !round.damaged.isEmpty
        return moved || hasNews || !round.records.isEmpty
    }

    /// Starts reading a partition whose ledger is whole, even while others wait for theirs.
    private func start(_ partition: Int32, of restoration: Restoration) throws {
        if try !quarantineUnreadable(restoration.unreadable, of: partition), held[partition] == nil {
            if let missing = missingSealingKeys(in: settings, before: partition) { throw missing }
            try start(partition)
            restoration.hasStarted = restoration.hasStarted || held[partition] == nil
        }
        restoration.waiting.removeAll { $0 == partition }
    }

    private func decode(_ records: [StoredRecord], of restoration: Restoration) {
        let (chunk, number) = (restoration.hand(), restorations)
        lanes.run(count: records.count, grain: 512, priority: .normal) { range, _ in
            records[range].map { DecodedChange($0) }
        } completion: { changes in
            self.post {
                // Chunks of an abandoned restore must not pass for the next one's.
                guard number == self.restorations else { return }
                self.assignment.restoration?.add(changes, chunk: chunk)
            }
        }
    }

    private func applyRestored(_ restoration: Restoration) -> Bool {
        var moved = false
        while let changes = restoration.take() {
            moved = true
            apply(changes, of: restoration)
        }
        return moved
    }

    /// Records come in runs of one partition: its ledger is taken out of the table for the length of a run, since
    /// changing it in place would cost more than the change itself.
    ///
    /// A ledger whose partition has started is ahead of whatever is still read of it: an older record would take its
    /// counters back.
    private func apply(_ changes: [DecodedChange], of restoration: Restoration) {
        var run: (number: Int32, ledger: PartitionLedger)?
        func apply(_ change: LedgerChange, on partition: Int32) {
            let number = settings.ledgerPartition(partition)
            if run?.number != number {
                if let done = run.take() { ledgers[done.number] = done.ledger }
                guard restoration.waiting.contains(partition) else { return }
                run = ledgers.removeValue(forKey: number).map { (number, $0) }
            }
            run?.ledger.apply(change)
        }
        for change in changes {
            switch change {
            case .change(let partition, let change):
                if !restoration.unreadable.isEmpty {
                    restoration.unreadable.remove(partition, key: LedgerCodec.encode(change).key)
                }
                apply(change, on: partition)
            case .tombstone(let partition, let key, let change):
                restoration.unreadable.remove(partition, key: key)
                if let change { apply(change, on: partition) }
            case .fault(let fault, let key): restoration.unreadable.add(fault, key: key)
            }
        }
        if let done = run { ledgers[done.number] = done.ledger }
    }
}
