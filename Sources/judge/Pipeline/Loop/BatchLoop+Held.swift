internal import AppAttest
internal import Streams

extension BatchLoop {
    /// Counts and reports what earlier starts at the same offset have not.
    func note(_ report: PartitionStart.Report, of partition: Int32) {
        assignment.restoration?.hasStarted = true
        tally.skippedAtMost += report.skippedAtMost
        tally.deletedAtMost += report.deletedAtMost
        guard let note = report.note else { return }
        notice(PartitionNotice(partition: partition, sentence: note, isHeld: false))
    }

    /// Notes a partition that is not read; the others go on.
    func noteHeld(_ partition: Int32, _ sentence: String, isNew: Bool) {
        if isNew { notice(PartitionNotice(partition: partition, sentence: sentence, isHeld: true)) }
        // No request is judged by an incomplete ledger, and nothing of it is kept: it is read from its beginning when the
        // partition is assigned again.
        guard let restoration = assignment.restoration, restoration.isReading(partition) else { return }
        forget(partition)
        restoration.noteUnusable(partition)
    }

    /// Writes down how far each partition of a batch is.
    ///
    /// Stream time and offset share a record of the ledger topic: both are written each time, since compaction keeps
    /// only the last record.
    func mark(_ positions: [PartitionPosition], after records: [DecodedRecord], in overlay: inout LedgerOverlay) {
        let (group, writer, isAtomic) = (member?.group, member?.transactionalID, streams.transaction.isAtomic)
        guard group != nil || !isAtomic else { return }
        for position in positions {
            let known = ledgers[position.partition]
            var mark = PartitionMark(
                group: group,
                delivery: delivery(of: position.partition),
                identity: member?.ledgerIdentity(of: position.partition),
                writer: writer,
                partitions: member?.partitionCount
            )
            // At-least-once delivery reads applied requests again, and skips them.
            let applied = isAtomic ? position.offset : max(position.offset, known?.appliedOffset ?? 0)
            mark.position.appliedOffset = applied
            mark.streamTime = overlay[position.partition].streamTime ?? known?.streamTime
            let isTouched = overlay[position.partition].streamTime != nil
            mark.usesSince = isTouched ? overlay[position.partition].usesSince : known?.usesSince
            if let time = mark.streamTime, time.milliseconds < 0 { mark.streamTime = nil }
            overlay[position.partition].mark = mark
            overlay[position.partition].firstMark = firstMark(of: position.partition, known, before: records)
        }
    }

    /// The mark before the first ledger records. Without a transaction the first batch may end after its first ledger
    /// record, with no offset or mark of ours written: such keys look like a ledger whose offsets are gone.
    private func firstMark(
        of partition: Int32,
        _ known: PartitionLedger?,
        before records: [DecodedRecord]
    ) -> PartitionMark? {
        let isFirst = known?.mark?.position.delivery != .atLeastOnceUncommitted && isFirstOffsetDue(partition)
        // A key that is used while uses are not noted must not be judged by a mark that says they are.
        let endsNotes = known?.usesSince != nil && !settings.keys.expire
        guard !streams.transaction.isAtomic, let group = member?.group, isFirst || endsNotes,
            let first = records.first(where: { $0.record.partition == partition })?.record.offset
        else { return nil }
        return PartitionMark(
            streamTime: known?.mark?.streamTime,
            usesSince: endsNotes ? nil : known?.mark?.usesSince,
            appliedOffset: max(first, known?.appliedOffset ?? 0),
            group: group,
            delivery: isFirst ? .atLeastOnceUncommitted : delivery(of: partition),
            identity: member?.ledgerIdentity(of: partition),
            partitions: member?.partitionCount
        )
    }

    private func delivery(of partition: Int32) -> PositionMark.Delivery {
        if streams.transaction.isAtomic { return .transaction }
        return isFirstOffsetDue(partition) ? .atLeastOnceUncommitted : .atLeastOnce
    }

    private func isFirstOffsetDue(_ partition: Int32) -> Bool { member?.isFirstOffsetDue(partition) ?? false }
}
