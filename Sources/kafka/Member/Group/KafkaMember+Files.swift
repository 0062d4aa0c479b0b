internal import KafkaPorts
internal import Streams

/// Ledgers that begin with a copy in a file: its records come first, then the topic's tail.
extension KafkaMember {
    /// - Returns: nil where the topic has to be read from its beginning.
    func openFile(of number: Int32, _ ends: Watermarks) -> (any LedgerFile)? {
        // Without transactions no copies are made, and what is known to be lost is not proven by one.
        guard isAtomic, ledgers.ends[number] != .max, let file = ports.files?.open(number) else { return nil }
        guard file.from >= ends.low, file.from < ends.high else {
            ports.files?.discard(number, "the topic ends before it")
            return nil
        }
        reader?.files[number] = file
        reader?.lows[number] = ends.low
        reader?.unproven[number] = file.identity
        reader?.outcomes.copied.append(number)
        return file
    }

    /// The newest mark of a partition whose ledger the loop has.
    func ledgerMark(of partition: Int32) -> (offset: Int64, identity: [UInt8])? {
        // A topic may hold an identity of any length.
        guard let mark = ledgers.marks[partition], let identity = mark.identity, identity.count == 16 else {
            return nil
        }
        return (mark.offset, identity)
    }

    /// The next records of a file, one file after the other; nil = no disk has any ready.
    func readFiles(_ records: Int, at now: Moment) throws -> StoredRecords? {
        guard let files = reader?.files.sorted(by: { $0.key < $1.key }), let first = files.first else { return nil }
        for (number, file) in files {
            // Of several disks only one is waited for, and that a few milliseconds.
            let part = file.next(records, mayWait: number == first.key)
            if part != .reading { reader?.filesMoved = now }
            switch part {
            case .records(let records):
                reader?.moved = now
                reader?.records += records.count
                return records
            case .reading: continue
            case .end: try readTail(of: number, from: file.from, at: now)
            case .damaged(let reason): try dropFile(of: number, reason, at: now)
            }
            return StoredRecords()
        }
        guard let moved = reader?.filesMoved, now - moved > LedgerReader.standstill else { return nil }
        reader?.filesMoved = now
        try dropFile(of: first.key, "the disk does not give it", at: now)
        return StoredRecords()
    }

    /// Nothing counts that came of a file: the topic is read from its beginning.
    func dropFile(of number: Int32, _ reason: String, at now: Moment) throws {
        ports.files?.discard(number, reason)
        reader?.unproven[number] = nil
        reader?.marks[number] = nil
        reader?.sources[number] = .topic
        reader?.outcomes.dropped.append(number)
        try readTail(of: number, from: reader?.lows[number] ?? 0, at: now)
    }

    private func readTail(of number: Int32, from start: Int64, at now: Moment) throws {
        reader?.files[number] = nil
        reader?.moved = now
        guard case .restoring(.reading(_, let target)) = partitions[number]?.state else { return }
        partitions.take(.ledgerProgress(.reading(next: start, target: target)), number)
        if start < target { try self.start([PartitionOffset(partition: number, offset: start)]) }
    }
}
