internal import AppAttest
internal import Log

extension BatchLoop {
    /// Asks the group's member where a restored partition starts.
    func start(_ partition: Int32) throws {
        let ledger = ledgers[settings.ledgerPartition(partition)]
        let start = try log.source.member?.start(
            partition,
            mark: ledger?.mark?.position,
            ledgerIsEmpty: ledger?.isEmpty ?? true
        )
        switch start {
        case nil: break
        case .held(let sentence): try hold(partition, sentence)
        case .started(let report):
            if !report.hasCommitted { uncommitted.insert(partition) }
            note(report, of: partition)
        }
    }

    /// Counts and reports what earlier starts at the same offset have not.
    private func note(_ report: PartitionStart.Report, of partition: Int32) {
        #if DEBUG
            let known = options.sabotage == .startReportedAgain ? nil : startReports[partition]
        #else
            let known = startReports[partition]
        #endif
        let (skipped, deleted) = (known?.skippedAtMost ?? 0, known?.deletedAtMost ?? 0)
        tally.skippedAtMost += max(0, report.skippedAtMost - skipped)
        tally.deletedAtMost += max(0, report.deletedAtMost - deleted)
        var latest = report
        latest.skippedAtMost = max(skipped, report.skippedAtMost)
        latest.deletedAtMost = max(deleted, report.deletedAtMost)
        startReports[partition] = latest
        guard let note = report.note, note != known?.note else { return }
        notice(PartitionNotice(partition: partition, sentence: note, isHeld: false))
    }

    /// Stops reading a partition, and reports why; the others go on. Until it is revoked or assigned again.
    func hold(_ partition: Int32, _ sentence: String) throws {
        // First: a fault of the pause loses neither the decision nor its reason.
        held[partition] = sentence
        if toldHolds[partition] != sentence {
            toldHolds[partition] = sentence
            notice(PartitionNotice(partition: partition, sentence: sentence, isHeld: true))
        }
        try log.source.member?.hold(partition)
    }

    /// - Parameter becauseGone: the partitions are no longer ours; else they are judged again.
    func release(_ partitions: [Int32], becauseGone: Bool) {
        for partition in partitions {
            held[partition] = nil
            uncommitted.remove(partition)
            if becauseGone { toldHolds[partition] = nil }
        }
    }

    /// Writes down how far each partition of a batch is.
    ///
    /// Stream time and offset share a record of the ledger topic: both are written each time, since compaction keeps
    /// only the last record.
    func mark(_ positions: [PartitionPosition], after records: [DecodedRecord], in overlay: inout LedgerOverlay) {
        let (group, isAtomic) = (log.source.member?.group, log.unit.isAtomic)
        guard group != nil || !isAtomic else { return }
        for position in positions {
            let known = ledgers[position.partition]
            var mark = PartitionMark(group: group, delivery: delivery(of: position.partition))
            // At-least-once delivery reads applied requests again, and skips them.
            let applied = isAtomic ? position.offset : max(position.offset, known?.appliedOffset ?? 0)
            mark.position.appliedOffset = applied
            mark.streamTime = overlay[position.partition].streamTime ?? known?.streamTime
            if let time = mark.streamTime, time.milliseconds < 0 { mark.streamTime = nil }
            overlay[position.partition].mark = mark
            overlay[position.partition].firstMark = firstMark(of: position.partition, known, before: records)
        }
    }

    /// Without a transaction the first batch may end after its first ledger record, with no offset or mark of ours
    /// written: such keys look like a ledger whose offsets are gone. So a mark is written before them.
    private func firstMark(
        of partition: Int32,
        _ known: PartitionLedger?,
        before records: [DecodedRecord]
    ) -> PartitionMark? {
        guard !log.unit.isAtomic, let group = log.source.member?.group,
            known?.mark?.position.delivery != .atLeastOnceUncommitted, uncommitted.contains(partition),
            let first = records.first(where: { $0.record.partition == partition })?.record.offset
        else { return nil }
        return PartitionMark(
            streamTime: known?.mark?.streamTime,
            appliedOffset: max(first, known?.appliedOffset ?? 0),
            group: group,
            delivery: .atLeastOnceUncommitted
        )
    }

    private func delivery(of partition: Int32) -> PositionMark.Delivery {
        if log.unit.isAtomic { return .transaction }
        return uncommitted.contains(partition) ? .atLeastOnceUncommitted : .atLeastOnce
    }
}
