internal import AppAttest

extension BatchLoop {
    func begin(_ change: AssignmentChange) {
        forgetPieces()
        switch change {
        case .assigned: break
        // Another worker may own a lost partition already: nothing in flight may be committed.
        case .lost: drop()
        // The group waits: only the oldest batch may still finish, and only within a limit.
        case .revoked:
            inFlight.removeLast(max(0, inFlight.count - 1))
            revocationEnd = wallClock().map {
                EvaluationTime(milliseconds: $0.milliseconds + options.revokeMilliseconds)
            }
        }
        pendingChange = change
    }

    /// Gives up the batch that delays a revocation too long: the next owner does it again.
    func limitRevocation() {
        guard case .revoked? = pendingChange, !inFlight.isEmpty, let end = revocationEnd, let now = wallClock(),
            now >= end
        else { return }
        drop()
    }

    func finish(_ change: AssignmentChange) throws {
        switch change {
        case .assigned(let partitions):
            forgetRestoration()
            // The log may fail and be asked again: no state changes before it has begun.
            try log.beginRestore(partitions, kept: Set(partitions.filter(isKnown)))
            release(partitions, becauseGone: false)
            for partition in partitions { take(partition) }
            restoration = Restoration(partitions: partitions)
            restorations += 1
        case .revoked(let partitions):
            forgetRestoration()
            for partition in partitions { give(partition) }
            release(partitions, becauseGone: true)
            bisection.forget(partitions)
            clocks.forget(partitions)
            try log.releaseRevoked()
        case .lost(let partitions):
            forgetRestoration()
            // Another worker moves these counters now: the counters remembered here would let old assertions back in.
            for partition in partitions { ledgers[settings.ledgerPartition(partition)] = nil }
            release(partitions, becauseGone: true)
            bisection.forget(partitions)
            clocks.forget(partitions)
            try log.releaseRevoked()
        }
        pendingChange = nil
    }

    /// Whether there is a ledger to go on with.
    private func isKnown(_ partition: Int32) -> Bool {
        let number = settings.ledgerPartition(partition)
        return ledgers[number] != nil || kept.has(number, at: uptime())
    }

    private func take(_ partition: Int32) {
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

    private func give(_ partition: Int32) {
        let number = settings.ledgerPartition(partition)
        guard let ledger = ledgers.removeValue(forKey: number), held[partition] == nil else { return }
        kept.keep(number, ledger, at: uptime())
    }

    /// Half-read ledgers are useless.
    func forgetRestoration() {
        guard let restoration else { return }
        for partition in restoration.waiting { ledgers[settings.ledgerPartition(partition)] = nil }
        self.restoration = nil
    }
}

// MARK: - Restore

extension BatchLoop {
    /// Reads more of the ledgers; lanes decode the records, the loop applies them in order.
    func restore(waitMilliseconds: Int) throws -> Bool {
        guard let restoration else { return false }
        var moved = applyRestored(restoration)
        while let partition = restoration.whole {
            try start(partition, of: restoration)
            moved = true
        }
        if restoration.waiting.isEmpty { self.restoration = nil }
        guard restoration.mayRead else { return moved }
        let round = try log.restore(Restoration.chunkRecords, waitMilliseconds: moved ? 0 : waitMilliseconds)
        if let change = round.change {
            begin(change)
            return true
        }
        for damage in round.damaged { try quarantine(damage.partition, damage.sentence) }
        restoration.remaining = round.remaining
        for partition in round.dropped {
            forget(partition)
            take(partition)
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
                self.restoration?.add(changes, chunk: chunk)
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
