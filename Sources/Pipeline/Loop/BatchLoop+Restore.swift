internal import Log

extension BatchLoop {
    /// Reads more of the ledgers; lanes decode the records and apply them, those of a ledger in order.
    func restore(_ restoration: Restoration, waitMilliseconds: Int) throws -> Bool {
        var moved = false
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
            restoration.drop(settings.ledgerPartition(partition))
            forget(partition)
            openLedger(of: partition)
        }
        if !round.records.isEmpty { apply(round.records, of: restoration) }
        restoration.noteGiven(round.damaged.map(\.partition))
        restoration.noteGiven(round.isComplete ? restoration.partitions : round.completed)
        let hasNews = !round.completed.isEmpty || round.isComplete || !round.damaged.isEmpty
        return moved || hasNews || !round.records.isEmpty
    }

    /// Starts reading a partition whose ledger is whole, even while others wait for theirs.
    private func start(_ partition: Int32, of restoration: Restoration) throws {
        // Of a damaged ledger nothing counts.
        if let ledger = restoration.takeLedger(of: partition), held[partition] == nil {
            ledgers[settings.ledgerPartition(partition)] = ledger
        }
        if try !quarantineUnreadable(restoration.unreadable(of: partition), of: partition), held[partition] == nil {
            if let missing = missingSealingKeys(in: settings, before: partition) { throw missing }
            try start(partition)
            // After the log has agreed that the partition is still ours: else the mark may be another owner's.
            countDoubted(partition)
            restoration.hasStarted = restoration.hasStarted || held[partition] == nil
        }
        restoration.waiting.removeAll { $0 == partition }
    }

    private func apply(_ records: StoredRecords, of restoration: Restoration) {
        #if DEBUG
            if options.sabotage == .ledgerReadOn { applyLate(records, of: restoration) }
        #endif
        let numbers = restoration.add(records) { planted(ledgers.removeValue(forKey: $0) ?? PartitionLedger()) }
        for number in numbers { work(on: number, of: restoration) }
    }

    #if DEBUG
        /// A planted bug: what is still read of a started partition's ledger is applied to it.
        private func applyLate(_ records: StoredRecords, of restoration: Restoration) {
            for place in records.places where !restoration.waiting.contains(place.partition) {
                let number = settings.ledgerPartition(place.partition)
                guard var ledger = ledgers.removeValue(forKey: number) else { continue }
                ledger.keys.takesLower = true
                try? ledger.apply(place, records.bytes.span)
                ledgers[number] = ledger
            }
        }
    #endif

    private func planted(_ ledger: PartitionLedger) -> PartitionLedger {
        #if DEBUG
            var ledger = ledger
            if options.sabotage == .lowerCounterKept { ledger.keys.takesLower = true }
        #endif
        return ledger
    }

    private func work(on number: Int32, of restoration: Restoration) {
        guard let (ledger, pieces) = restoration.begin(number) else { return }
        let restorations = restorations
        lanes.run(count: 1, grain: 1, priority: .normal) { _, _ in
            [ledger.apply(pieces)]
        } completion: { applied in
            self.post {
                // The work of an abandoned restore must not pass for the next one's.
                guard restorations == self.restorations, let restoration = self.assignment.restoration else { return }
                restoration.finish(number, ledger, records: applied.reduce(0, +))
                self.work(on: number, of: restoration)
            }
        }
    }
}
