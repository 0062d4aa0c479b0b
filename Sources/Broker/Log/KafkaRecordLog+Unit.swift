internal import Kafka
internal import KafkaPorts
internal import Log

/// What the unit needs of the log.
extension KafkaRecordLog: UnitOwner {
    func checkCommit(_ positions: [PartitionPosition], of generation: Generation) throws -> CommitPlace {
        // The library knows of a lost assignment before the change reaches a round.
        guard !consumer.isAssignmentLost else { throw KafkaFault.stale("the assignment was lost") }
        guard generation == Generation(self.generation), membership.arrival == nil,
            let member = membership.metadata
        else {
            throw KafkaFault.stale("the batch belongs to an assignment before this one")
        }
        try partitions.check(positions)
        brokerUnit.knownLedgerEnds = ledgerEnds
        return CommitPlace(consumer: consumer, member: member)
    }

    func noteCommitted(_ positions: [PartitionPosition]) {
        partitions.noteCommitted(positions)
        for (partition, end) in brokerUnit.ledgerEnds { ledgerEnds[partition] = max(ledgerEnds[partition] ?? 0, end) }
    }

    func noteFailedCommit() {
        // Nothing kept of them is trusted any more: they are read from their beginning.
        for partition in brokerUnit.cutLedgers { ledgerEnds[partition] = .max }
    }

    func rewind(after end: UnitEnd) {
        partitions.rewind()
        isRewindPending = true
        shelf.dropRecords()
        // Committed offsets and the ledger topic's contents are asked for again: reading starts from there. Partitions
        // that are being revoked are left to their next owner.
        let asksAgain = end == .unknown || partitions.numbers.contains { decisions[$0] == nil }
        if asksAgain, case .owning(let member) = membership, !shelf.hasChange, !partitions.isEmpty {
            membership = .arriving(Arrival(partitions.numbers), member)
        }
        restore = nil
    }
}
