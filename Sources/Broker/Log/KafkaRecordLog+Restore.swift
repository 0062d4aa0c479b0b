internal import Kafka
internal import KafkaPorts
package import Log
internal import Settings

extension KafkaRecordLog {
    package func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws {
        restoredRecords = 0
        for partition in partitions { decisions[partition] = nil }
        restore = try LedgerRestore(
            settings,
            partitions: partitions,
            known: ledgerEnds.filter { kept.contains($0.key) },
            questions: questions
        )
    }

    package func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound {
        var round = RestoreRound()
        // The group may revoke the partitions meanwhile. An assignment that arrives is waited for: it ends this restore.
        round.change =
            membership.arrival == nil ? try serve() : try advanceArrival(waitMilliseconds).change
        if round.change != nil || membership.arrival != nil { return round }
        guard let restore else { throw KafkaFault.stale("no restore is under way") }
        do throws(KafkaFault) {
            try restore.read(records, timeoutMilliseconds: waitMilliseconds, into: &round)
        } catch {
            // An offset that is gone, for example: the whole ledger is then read again.
            guard error.isRefusal else { throw error.judged(isFatal: false, requiresAbort: true) }
            throw rights.explained(error, reading: settings.topics.outputs[.ledger])
        }
        if let fault = restore.takeTrouble() {
            guard fault.isRecoverable else { throw rights.explained(fault, reading: settings.topics.outputs[.ledger]) }
            note(fault)
        }
        restoredRecords += round.records.count
        requestEnds.merge(restore.takeRequestEnds()) { $1 }
        for partition in round.completed { ledgerEnds[partition] = restore.end(of: partition) }
        guard restore.isComplete else { return round }
        self.restore = nil
        round.isComplete = true
        restored(restoredRecords)
        return round
    }
}
