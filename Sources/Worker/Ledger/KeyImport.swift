internal import AppAttest
internal import AppCheck
internal import Kafka
internal import Pipeline
internal import Settings

/// `import-keys`: a KEYS file into the ledger topic.
struct KeyImport {
    struct Tally: Equatable {
        var lines = 0
        var added = 0
        var updated = 0
        var unchanged = 0
        var kept = 0
    }

    /// Lines about refused keys; further ones are only counted.
    private static let shownConflicts = 20

    private let access: LedgerAccess
    private let partitioner: Partitioner
    private let console: Console
    /// The keys of the file.
    private var wanted = StoredKeys()
    /// The ledger's records of the same keys.
    private var present = StoredKeys()
    private var tally = Tally()
    /// Partitions of the ledger that have records.
    private var written: Set<Int32> = []

    init(_ access: LedgerAccess, partitioner: Partitioner, console: Console) {
        self.access = access
        self.partitioner = partitioner
        self.console = console
    }

    /// Reads all lines first, then the ledger, and only then writes.
    mutating func run(input: String) throws -> Tally {
        _ = try access.transactionalID()
        try KeysFile.read(input) { key in
            wanted.add(key)
            tally.lines += 1
        }
        let partitions = try access.partitionCount()
        try access.requireEmptyGroup()
        let writer = try LedgerWriter(access)
        try writer.open()
        let ends = try readLedger(partitions)
        var due = judged()[...]
        var marks = due.isEmpty ? [] : try firstMarks(partitions)[...]
        var progress = ProgressMeter("import-keys", unit: "keys", total: due.count, console: console)
        try writer.write(from: ends, progress: { progress.update($0) }) {
            if let mark = marks.popFirst() { return mark }
            guard let id = due.popFirst(), let record = wanted[id] else { return nil }
            guard case .write(let merged) = KeyMerge(record, into: present[id]) else {
                preconditionFailure("judged a moment ago, and nothing has changed")
            }
            let (key, value) = LedgerCodec.encode(.key(id, merged))
            return LedgerRecord(partition: home(of: id, partitions), key: key, value: value)
        }
        progress.finish()
        return tally
    }

    /// Marks the keys of partitions without a worker so far as imported: a worker that finds keys and no offset would
    /// take the offset for lost. The marks come with the first of the keys.
    private func firstMarks(_ partitions: Int32) throws -> [LedgerRecord] {
        let mark = PartitionMark(appliedOffset: 0, group: Array(try access.groupID().utf8), delivery: .transaction)
        let (key, value) = LedgerCodec.encode(.mark(mark))
        return try access.requestOffsets(partitions: partitions)
            .filter { $0.committed == nil && !written.contains($0.partition) }
            .map { LedgerRecord(partition: $0.partition, key: key, value: value) }
    }

    private func home(of id: KeyID, _ partitions: Int32) -> Int32 {
        partitioner.partition(of: id.recordKey, count: partitions)
    }

    /// - Returns: the partitions' ends.
    private mutating func readLedger(_ partitions: Int32) throws -> [Int64] {
        var strays: [KeyID: Int32] = [:]
        var decoder = LedgerDecoder()
        let ends = try LedgerReader(access, partitions: partitions).readSettled { record in
            if record.value != nil { written.insert(record.partition) }
            switch try decoder.change(of: record) {
            case .key(let id, let stored):
                guard wanted[id] != nil else { return }
                if record.partition == home(of: id, partitions) {
                    present.set(id, stored)
                } else {
                    strays[id] = record.partition
                }
            case .keyForgotten(let id):
                if strays[id] == record.partition { strays[id] = nil }
                if record.partition == home(of: id, partitions) { present.remove(id) }
            default: break
            }
        }
        try decoder.finish()
        if let (id, partition) = strays.first {
            throw CommandFault(
                "the ledger has key \(id.text) on partition \(partition), but worker.json's partitioner puts it on "
                    + "\(home(of: id, partitions)): set partitioner to the one that the requests' producers use."
            )
        }
        return ends
    }

    /// The keys to be written, in the file's order; prints which are not taken.
    private mutating func judged() -> [KeyID] {
        var due: [KeyID] = []
        for id in wanted.ids {
            guard let record = wanted[id] else { continue }
            let stored = present[id]
            switch KeyMerge(record, into: stored) {
            case .unchanged: tally.unchanged += 1
            case .write:
                due.append(id)
                if stored == nil { tally.added += 1 } else { tally.updated += 1 }
            case .kept(let reason):
                tally.kept += 1
                if tally.kept <= Self.shownConflicts {
                    console.printError("key \(id.text) is left as it is: \(reason)")
                }
            }
        }
        if tally.kept > Self.shownConflicts {
            console.printError("and \((tally.kept - Self.shownConflicts).grouped) more keys are left as they are")
        }
        return due
    }
}

extension KeyID {
    /// Apple's text.
    var text: String { String(decoding: recordKey, as: UTF8.self) }
}
