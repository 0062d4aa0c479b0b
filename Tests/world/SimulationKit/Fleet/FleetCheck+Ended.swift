internal import AppAttest
internal import Pipeline
internal import Streams

/// Keys that end because they are not used.
extension FleetCheck {
    /// The keys' records, but for those that have ended: when one is removed depends on the batches.
    func living(_ reading: FleetReading) -> [Int32: [[UInt8]: [UInt8]]] {
        guard fleet.settings.keys.expire else { return reading.keyRecords }
        var living = reading.keyRecords
        for (partition, ledger) in reading.restored {
            ledger.keys.forEach { id, record in
                guard hasEnded(record, in: ledger) else { return }
                living[partition]?[LedgerCodec.encode(.keyForgotten(id)).key] = nil
            }
        }
        return living
    }

    /// No key that is in use is forgotten: at the mark of its tombstone's batch it had ended. Without transactions a batch that
    /// is judged twice may bring the tombstone once more, after the key's new record.
    mutating func checkEnded() {
        guard fleet.settings.keys.expire, fleet.plan.delivery == .exactlyOnce else { return }
        for (partition, records) in fleet.broker.visible(.ledger) where !isLoose(partition) {
            var (ledger, gone): (PartitionLedger, [(id: KeyID, record: KeyRecord)]) = (PartitionLedger(), [])
            for record in records {
                guard let change = try? LedgerCodec.decode(key: record.key ?? [], value: record.value) else { continue }
                if case .keyForgotten(let id) = change, let known = ledger.keys[id] { gone.append((id, known)) }
                ledger.apply(change)
                guard case .mark = change else { continue }
                complain(of: gone, in: ledger, partition)
                gone = []
            }
            complain(of: gone, in: ledger, partition)
        }
    }

    private mutating func complain(
        of gone: [(id: KeyID, record: KeyRecord)],
        in ledger: PartitionLedger,
        _ partition: Int32
    ) {
        for (id, record) in gone where !hasEnded(record, in: ledger) {
            complaints.append("partition \(partition) forgot \(Self.text(id)), which had not ended")
        }
    }

    private func hasEnded(_ record: KeyRecord, in ledger: PartitionLedger) -> Bool {
        fleet.settings.keys.hasEnded(record.use(by: ledger.mark), at: ledger.streamTime)
    }
}
