package import Log
internal import Pipeline

extension SimulatedMember {
    package func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws {
        try strike()
        guard let owned, owned.partitions == partitions else { preconditionFailure("restored is what was assigned") }
        (restoring, dropped, readOn) = ([:], [], [:])
        // Others are restored and started long before the partitions of a slow leader.
        slowLedgers = Set(partitions.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
        if !slowLedgers.isEmpty { broker.counts.add(.slowLedger) }
        for partition in partitions {
            let log = broker.log(.ledger, partition)
            var start = kept.contains(partition) ? ledgerPositions[partition, default: 0] : 0
            if start > log.highWatermark {
                dropped.insert(partition)
                start = 0
            }
            if start > 0 { broker.counts.add(.restoredTail) }
            restoring[partition] = (start, restoreStopsAtLastStable ? log.lastStable : log.highWatermark)
        }
    }

    package func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound {
        try strike()
        var round = RestoreRound()
        if let change = try groupChange() {
            broker.counts.add(.restoreInterrupted)
            round.change = change
            return round
        }
        if !dropped.isEmpty {
            // Before the first record of theirs.
            (round.dropped, dropped) = (dropped, [])
            return round
        }
        var left = min(records, Int.random(in: 1...12, using: &random))
        for partition in restoring.keys.sorted() {
            if slowLedgers.contains(partition), Int.random(in: 0..<12, using: &random) > 0 { continue }
            read(partition, &left, into: &round)
        }
        for partition in readOn.keys.sorted() { readFurther(partition, &left, into: &round) }
        round.remaining = restoring.values.reduce(0) { $0 + Int64(max(0, $1.end - $1.next)) }
        for (partition, state) in restoring.sorted(by: { $0.key < $1.key }) where state.next >= state.end {
            // An empty ledger too is known to be one only when the leader has answered.
            if slowLedgers.contains(partition), Int.random(in: 0..<12, using: &random) > 0 { continue }
            ledgerPositions[partition] = state.next
            restoring[partition] = nil
            readOn[partition] = state.next
            round.completed.append(partition)
        }
        return round
    }

    package func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
        try strike()
        if !restoring.isEmpty { broker.counts.add(.startedWhileRestoring) }
        var known = PartitionPositions(
            partition,
            committed: found.offsets[partition],
            isOwn: found.own.contains(partition),
            group: group ?? []
        )
        known.groupHasOffsets = !found.offsets.isEmpty
        (known.mark, known.ledgerIsEmpty, known.ends) = (mark, ledgerIsEmpty, broker.requestEnds(partition))
        let believed = PartitionPositions.Decision.start(known.committed, PartitionStart.Report())
        switch leavesRowsOut ? believed : known.decision {
        case .hold(let sentence):
            broker.counts.note("\(name): \(sentence)")
            return .held(sentence)
        case .start(let offset, var report):
            if report.isUncommitted, let offset, let stamp = owned?.stamp {
                try refusing {
                    try broker.commitOffsets([PartitionPosition(partition: partition, offset: offset)], stamp)
                }
                report.hasCommitted = true
            }
            let start = offset ?? broker.requestEnds(partition).low
            if !isAtomic, start > found.offsets[partition] ?? 0 { broker.counts.add(.appliedSkipped) }
            broker.skipped += report.skippedAtMost
            (positions[partition], committed[partition]) = (start, start)
            owned?.started.insert(partition)
            return .started(report)
        }
    }

    package func hold(_ partition: Int32) throws {
        // As the log on a broker: the records stay back even if the pause fails.
        owned?.started.remove(partition)
        owned?.held.insert(partition)
        try strike()
    }

    /// Reads a partition further, up to the LSO, and waits for records after it.
    private func read(_ partition: Int32, _ left: inout Int, into round: inout RestoreRound) {
        guard let (start, end) = restoring[partition] else { return }
        var next = start
        let log = broker.log(.ledger, partition)
        while next < end, left > 0 {
            guard next < log.lastStable else {
                broker.counts.add(.restoreWaited)
                break
            }
            if let record = log.visible(at: next) {
                round.records.append(StoredRecord(partition: partition, key: record.key ?? [], value: record.value))
                left -= 1
            }
            next += 1
        }
        restoring[partition] = (next, end)
    }
    /// A client may go on reading a partition after the end that was asked for: what this worker commits comes back.
    private func readFurther(_ partition: Int32, _ left: inout Int, into round: inout RestoreRound) {
        let log = broker.log(.ledger, partition)
        guard var next = readOn[partition], Bool.random(using: &random) else { return }
        while next < log.lastStable, left > 0 {
            if let record = log.visible(at: next) {
                broker.counts.add(.restoredFurther)
                round.records.append(StoredRecord(partition: partition, key: record.key ?? [], value: record.value))
                left -= 1
            }
            next += 1
        }
        readOn[partition] = next
    }
}
