package import AppAttest
internal import AppCheck
internal import Crypto
package import Kafka
internal import KafkaPorts
internal import Pipeline
package import Settings
internal import Streams

/// `import-keys`: a KEYS file into the ledger topic.
package struct KeyImport {
    package struct Tally: Equatable {
        package var lines = 0
        /// Keys that can verify.
        package var added = 0
        /// Keys that can never verify, kept all the same.
        package var addedUnusable = 0
        package var updated = 0
        package var unchanged = 0
        package var kept = 0
    }

    private enum Part { case key, ban }

    private let access: LedgerAccess
    private let partitioner: Partitioner
    private let partitions: Int32
    private let writer: LedgerWriter
    /// The keys of the file.
    private var wanted = StoredKeys()
    /// The ledger's records of the same keys.
    private var present = StoredKeys()
    /// Partitions of the ledger that have records.
    private var written: Set<Int32> = []
    private var marks: [Int32: PartitionMark] = [:]
    /// The ledger's ends.
    private var ends: [Int64] = []
    /// The records to be written, in the file's order.
    private var due: [(id: KeyID, part: Part)] = []
    package private(set) var tally = Tally()
    package private(set) var unusable = UnusableKeys()

    /// Reads all lines first, then the ledger; writes nothing.
    ///
    /// - Parameters:
    ///   - input: the KEYS file's path.
    ///   - kept: called with each key of the ledger that the import leaves as it is, and why.
    package init(
        _ access: LedgerAccess,
        partitioner: Partitioner,
        input: String,
        kept: (KeyID, _ reason: String) -> Void
    ) throws {
        (self.access, self.partitioner) = (access, partitioner)
        _ = try access.transactionalID()
        var (wanted, lines) = (StoredKeys(), 0)
        var unusable = UnusableKeys()
        try KeysFile.read(input) { key, line in
            unusable.note(key, wanted.add(key), line: line)
            lines += 1
        }
        (self.wanted, self.unusable, tally.lines) = (wanted, unusable, lines)
        partitions = try access.partitionCount()
        try access.requireEmptyGroup()
        writer = try LedgerWriter(access)
        try writer.open()
        ends = try readLedger()
        judge(kept)
    }

    /// The number of records to be written.
    package var total: Int { due.count }

    /// - Parameter progress: called with the number of committed records.
    package func perform(progress: (Int) -> Void) throws {
        var due = due[...]
        var marks = due.isEmpty ? [] : try firstMarks()[...]
        try writer.write(from: ends, progress: progress) {
            if let mark = marks.popFirst() { return mark }
            guard let (id, part) = due.popFirst() else { return nil }
            return StoredRecord(change(of: id, part), on: home(of: id))
        }
    }

    private func change(of id: KeyID, _ part: Part) -> LedgerChange {
        switch part {
        case .ban:
            if let ban = ban(of: id) { return .ban(BanID.key(id), ban) }
        case .key:
            if let record = imported(id), case .write(let merged) = KeyMerge(record, into: present[id]) {
                return .key(id, merged)
            }
        }
        preconditionFailure("judged a moment ago, and nothing has changed")
    }

    private func imported(_ id: KeyID) -> KeyRecord? {
        wanted[id]?.used(by: marks[home(of: id)], over: present[id], access.keys)
    }

    /// The ban to be written; nil = the ledger has one that lasts as long, and as early.
    private func ban(of id: KeyID) -> Ban? {
        guard let ban = wanted.ban(of: id) else { return nil }
        guard let stored = present.ban(of: id) else { return ban }
        return stored.joined(withLine: ban)
    }

    /// Marks the keys of partitions without a worker so far as imported: a worker that finds keys and no offset would
    /// take the offset for lost. The marks come with the first of the keys.
    private func firstMarks() throws -> [StoredRecord] {
        let mark = PartitionMark(
            appliedOffset: 0,
            group: Array(try access.groupID().utf8),
            delivery: .transaction,
            partitions: partitions
        )
        return try access.requestOffsets(partitions: partitions)
            .filter { $0.committed == nil && !written.contains($0.partition) }
            .map { StoredRecord(.mark(mark), on: $0.partition) }
    }

    private func home(of id: KeyID) -> Int32 { partitioner.partition(of: id.recordKey, count: partitions) }

    /// - Returns: the partitions' ends.
    private mutating func readLedger() throws -> [Int64] {
        var (strays, banHomes): ([KeyID: Int32], [Digest: Int32]) = ([:], [:])
        for id in wanted.ids where wanted.ban(of: id) != nil { banHomes[BanID.key(id)] = home(of: id) }
        var marks: [Int32: PartitionMark] = [:]
        let ends = try LedgerReader(access, partitions: partitions).changes(untilSettled: true) { change, record in
            if record.value != nil { written.insert(record.partition) }
            switch change {
            case .key(let id, let stored):
                guard wanted[id] != nil else { return }
                if record.partition == home(of: id) { present.set(id, stored) } else { strays[id] = record.partition }
            // Elsewhere a ban says nothing about the key.
            case .ban(let id, let ban): if banHomes[id] == record.partition { present.set(ban, id) }
            case .banLifted(let id): if banHomes[id] == record.partition { present.set(nil, id) }
            case .keyForgotten(let id):
                if strays[id] == record.partition { strays[id] = nil }
                if record.partition == home(of: id) { present.remove(id) }
            case .mark(let mark): marks[record.partition] = mark
            case .markForgotten: marks[record.partition] = nil
            default: break
            }
        }
        self.marks = marks
        try access.require(marks.values, toName: partitions)
        if let (id, partition) = strays.first {
            throw CommandFault(
                "the ledger has key \(id.text) on partition \(partition), but worker.json's partitioner puts it on "
                    + "\(home(of: id)): set partitioner to the one that the requests' producers use."
            )
        }
        return ends
    }

    private mutating func judge(_ kept: (KeyID, String) -> Void) {
        for id in wanted.ids {
            guard let record = imported(id) else { continue }
            let stored = present[id]
            let isBanned = ban(of: id) != nil
            if isBanned { due.append((id, .ban)) }
            switch KeyMerge(record, into: stored) {
            case .unchanged: if isBanned { tally.updated += 1 } else { tally.unchanged += 1 }
            case .write:
                due.append((id, .key))
                if stored != nil {
                    tally.updated += 1
                } else if record.publicKey == nil {
                    tally.addedUnusable += 1
                } else {
                    tally.added += 1
                }
            case .kept(let reason):
                tally.kept += 1
                kept(id, reason)
            }
        }
    }
}

extension KeyID {
    /// Apple's text.
    package var text: String { String(decoding: recordKey, as: UTF8.self) }
}
