package import Pipeline

extension SimulatedMember {
    package func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws -> Set<Int32> {
        try strike()
        guard let owned, owned.partitions == partitions else { preconditionFailure("restored is what was assigned") }
        restoring = [:]
        var lost: Set<Int32> = []
        for partition in partitions {
            let log = broker.log(.ledger, partition)
            var start = kept.contains(partition) ? ledgerPositions[partition, default: 0] : 0
            if start > log.highWatermark {
                lost.insert(partition)
                start = 0
            }
            if start > 0 { broker.counts.add(.restoredTail) }
            restoring[partition] = (start, restoreStopsAtLastStable ? log.lastStable : log.highWatermark)
        }
        return lost
    }

    package func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound {
        try strike()
        var round = RestoreRound()
        if let change = try groupChange() {
            broker.counts.add(.restoreInterrupted)
            round.change = change
            return round
        }
        var left = min(records, Int.random(in: 1...12, using: &random))
        for partition in restoring.keys.sorted() { read(partition, &left, into: &round) }
        round.remaining = restoring.values.reduce(0) { $0 + Int64(max(0, $1.end - $1.next)) }
        guard round.remaining == 0 else { return round }
        for (partition, state) in restoring { ledgerPositions[partition] = state.next }
        restoring = [:]
        owned?.isRestored = true
        round.isComplete = true
        return round
    }

    /// Reads a partition on, up to the LSO: what lies behind it is waited for.
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
}
