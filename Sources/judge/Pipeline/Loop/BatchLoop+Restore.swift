internal import Streams
internal import Threads

extension BatchLoop {
    /// Reads more of the ledgers; lanes decode the records and apply them, those of a ledger in order.
    func restore(_ restoration: Restoration, waitMilliseconds: Int) throws -> Bool {
        var moved = false
        while let partition = restoration.whole, try start(partition, of: restoration) { moved = true }
        if restoration.waiting.isEmpty { assignment = .settled }
        guard restoration.mayRead, streams.hasLedgers, let member else { return moved }
        return take(try member.readLedgers(Restoration.chunkRecords, waitMilliseconds: moved ? 0 : waitMilliseconds))
            || moved
    }

    /// - Returns: whether it is more than how far the restore is.
    func takeLedger(_ event: PartitionEvent) -> Bool {
        guard let restoration = assignment.restoration else { return false }
        switch event {
        case .ledger(let records, let left):
            restoration.remaining = left
            guard !records.isEmpty else { return false }
            apply(records, of: restoration)
        case .ledgerDropped(let partition):
            restoration.drop(settings.ledgerPartition(partition))
            forget(partition)
            openLedger(of: partition)
            schedule.forget([partition])
        case .ledgerCopied(let partition):
            if let now = uptime(), let age = options.snapshots?.age(of: partition) {
                schedule.noteCopied(partition, at: now - age)
            }
            ledgers[settings.ledgerPartition(partition)]?.readsInOrder = streams.transaction.isAtomic
        case .ledgerGiven(let partition): restoration.noteGiven([partition])
        default: return false
        }
        return true
    }

    /// Starts reading a partition whose ledger is whole, even while others wait for theirs.
    ///
    /// - Returns: false where the announcement is over: the member says next what follows.
    private func start(_ partition: Int32, of restoration: Restoration) throws -> Bool {
        assert(restoration.waiting.contains(partition), "a partition starts once")
        assert(!restoration.isReading(partition), "a partition starts once its ledger was given")
        let isUsable = !restoration.unusable.contains(partition)
        // Nothing of a damaged ledger counts.
        if let ledger = restoration.takeLedger(of: partition), isUsable {
            ledgers[settings.ledgerPartition(partition)] = ledger
        }
        if let fault = restoration.unreadable(of: partition).first(of: partition) {
            forget(partition)
            let sentence = Self.sentence(fault, partition)
            let held = try member?.ledgerIsUnusable(partition, sentence, of: restoration.announcement)
            guard let held else { return false }
            _ = take([held])
        } else if isUsable {
            if let missing = missingSealingKeys(in: settings, before: partition) { throw missing }
            guard let event = try answer(partition, of: restoration) else { return false }
            _ = take([event])
            // After the member has agreed that the partition is still ours: else the mark may be another owner's.
            countDoubted(partition)
        }
        restoration.waiting.removeAll { $0 == partition }
        return true
    }

    private func answer(_ partition: Int32, of restoration: Restoration) throws -> PartitionEvent? {
        let ledger = ledgers[settings.ledgerPartition(partition)]
        return try member?.ledgerIsWhole(
            partition,
            mark: ledger?.mark?.position,
            isEmpty: ledger?.isEmpty ?? true,
            of: restoration.announcement
        )
    }

    /// A ledger has records that this version cannot read.
    private static func sentence(_ fault: LedgerFault, _ partition: Int32) -> String {
        "\(fault); run the version that wrote it, or forget the partition's keys with attest-worker "
            + "reset --config DIR --partitions \(partition)"
    }

    private func apply(_ records: StoredRecords, of restoration: Restoration) {
        let numbers = restoration.add(records) { ledgers.removeValue(forKey: $0) ?? PartitionLedger() }
        for number in numbers { work(on: number, of: restoration) }
    }

    private func work(on number: Int32, of restoration: Restoration) {
        guard let (ledger, pieces) = restoration.begin(number) else { return }
        let announcement = restoration.announcement
        lanes.run(count: 1, grain: 1, priority: .normal) { _, _ in
            [ledger.apply(pieces)]
        } completion: { applied in
            self.post {
                self.owner.check()
                // The work of an abandoned restore must not pass for the next one's.
                guard let restoration = self.assignment.restoration, restoration.announcement == announcement
                else { return }
                restoration.finish(number, ledger, records: applied.reduce(0, +))
                self.work(on: number, of: restoration)
            }
        }
    }
}
