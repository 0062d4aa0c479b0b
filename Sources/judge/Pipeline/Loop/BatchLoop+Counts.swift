internal import AppAttest
internal import Streams

extension BatchLoop {
    /// Takes a committed batch's counts into the tally.
    ///
    /// - Parameter places: of the apps of the registry that judged the batch.
    func count(_ batch: Batch, _ places: [Int32]) {
        tally.answers.add(batch.answers, places)
        tally.batchRecords.add(Int64(batch.tally.requests))
        guard let now = wallClock() else { return }
        for timestamps in batch.timestamps {
            for timestamp in timestamps { tally.answerAge.add(max(0, now.milliseconds - timestamp)) }
        }
        guard let began = batch.commitBegan, let ended = uptime() else { return }
        tally.commitDuration.add(max(0, ended - began))
    }

    /// Counts a batch whose commit had failed, if the ledger says that it was committed: a transaction is durable whole
    /// or not at all.
    ///
    /// - Parameter partition: one whose ledger was read back.
    func countDoubted(_ partition: Int32) {
        func position(_ batch: Batch) -> PartitionPosition? { batch.positions.first { $0.partition == partition } }
        guard let index = doubted.firstIndex(where: { position($0.batch) != nil }) else { return }
        let (batch, places) = doubted.remove(at: index)
        guard let position = position(batch) else { return }
        let applied = ledgers[settings.ledgerPartition(partition)]?.mark?.position.appliedOffset ?? 0
        // A mark beyond the batch's end is another owner's: the batch may be that owner's, too.
        guard applied == position.offset else { return }
        tally.add(batch.tally)
        count(batch, places)
        batch.overlay.acts.forEach(notice)
    }

    /// Forgets doubts about earlier batches of the same partitions: their records are a later batch's now.
    func noteDecided(_ batch: Batch) {
        guard !doubted.isEmpty else { return }
        let partitions = Set(batch.positions.map(\.partition))
        doubted.removeAll { $0.batch.positions.contains { partitions.contains($0.partition) } }
    }
}

extension Batch {
    func add(_ grains: [GrainCounts]) {
        for grain in grains {
            tally.refusals.add(grain.refusals)
            answers.add(grain.answers)
            if !grain.timestamps.isEmpty { timestamps.append(grain.timestamps) }
        }
    }
}
