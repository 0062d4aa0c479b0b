internal import Crypto
internal import Kafka
internal import KafkaPorts
package import Pipeline
internal import Settings
internal import Streams

/// `reset`: moves the group's offsets to the end (or the beginning) of the requests and forgets everything in the
/// ledger; or, with `--offsets-only`, sets offsets and marks to one place and keeps the rest of the ledger.
///
/// Offsets go first. After a crash in between, the group resumes at the new offsets with all or part of its ledger:
/// requests that were judged are skipped, or read again and refused by the remaining counters. In the other order,
/// requests in flight would meet a ledger that has forgotten which of them it accepted. Either way the same command
/// finishes the work.
package struct LedgerReset {
    package struct Row: Equatable {
        package var offsets: RequestOffsets
        package var target: Int64
        /// Ledger records to be tombstoned; with `--offsets-only`, the records that are kept.
        package var live: Int
        package var mark: PartitionMark?
    }

    package let access: LedgerAccess
    package let group: String
    package let scope: ResetScope
    private let writer: LedgerWriter?
    private let partitions: Int32
    private let content: LedgerContent
    package let rows: [Row]

    /// Reads group and ledger.
    ///
    /// - Parameters:
    ///   - writes: false for the plan alone; then nothing is changed.
    ///   - progress: called with the number of ledger records read.
    package init(_ access: LedgerAccess, _ scope: ResetScope, writes: Bool, progress: (Int) -> Void) throws {
        (self.access, self.scope) = (access, scope)
        group = try access.groupID()
        partitions = try access.partitionCount()
        try access.require(scope.partitions, of: partitions)
        // New offsets do not bring keys to where their requests now come.
        if scope.keepsLedger { try access.requireMarks(toName: partitions, orMovedFrom: partitions) }
        writer = writes ? try LedgerWriter(access) : nil
        try writer?.open()
        // Challenges that a worker accepts while the ledger is read must not be forgotten at once.
        let begin = try access.ends(of: access.topic, Array(0..<partitions))
        try access.requireEmptyGroup()
        let chosen = scope.partitions
        let content = try LedgerContent(access, partitions: partitions, only: chosen, until: begin, progress: progress)
        rows = try access.requestOffsets(partitions: partitions).filter { scope.contains($0.partition) }.compactMap {
            found in
            let mark = content.marks[found.partition]
            guard let target = try scope.offset(of: found, mark: mark) else { return nil }
            return Row(offsets: found, target: target, live: content.live[Int(found.partition)].count, mark: mark)
        }
        self.content = content
    }

    package var isDone: Bool {
        rows.allSatisfy { row in
            guard row.offsets.committed == row.target else { return false }
            // Beside an empty ledger a worker's offset says that the ledger was lost: the partition is held until it is set.
            return scope.keepsLedger ? row.mark == newMark(row) : row.live == 0 && !row.offsets.isOwn
        }
    }

    /// The stream time stays: ids that expired by it must not be accepted again.
    private func newMark(_ row: Row) -> PartitionMark {
        PartitionMark(
            streamTime: row.mark?.streamTime,
            appliedOffset: row.target,
            group: Array(group.utf8),
            delivery: .transaction,
            partitions: partitions
        )
    }

    /// The number of ledger records to be written.
    package var total: Int { scope.keepsLedger ? rows.count : rows.reduce(0) { $0 + $1.live } }

    /// - Parameter progress: called with the number of ledger records written.
    /// - Returns: how many ledger records were written.
    package func perform(progress: (Int) -> Void) throws -> Int {
        guard let writer else { preconditionFailure("the plan alone was asked for") }
        try access.setRequestOffsets(
            rows.map { PartitionOffset(partition: $0.offsets.partition, offset: $0.target) }
        )
        let records = scope.keepsLedger ? marks() : content.tombstones()
        try writer.write(from: content.ends, progress: progress) { records.next() }
        return writer.written
    }

    private func marks() -> AnyIterator<StoredRecord> {
        var rest = rows[...]
        return AnyIterator { rest.popFirst().map { StoredRecord(.mark(newMark($0)), on: $0.offsets.partition) } }
    }
}

/// The keys of one ledger partition that have a value, of every kind, as written in the topic.
struct LiveLedgerKeys {
    /// The keys of 33 bytes, nearly all, by their type byte.
    private var digests: [UInt8: Set<Digest>] = [:]
    private var others: Set<[UInt8]> = []

    var count: Int { digests.values.reduce(others.count) { $0 + $1.count } }

    mutating func note(_ key: [UInt8], isLive: Bool) {
        if let kind = key.first, let digest = Digest(Array(key.dropFirst())) {
            if isLive { digests[kind, default: []].insert(digest) } else { digests[kind]?.remove(digest) }
        } else {
            if isLive { others.insert(key) } else { others.remove(key) }
        }
    }

    /// Yields the keys one by one. Key records come last: as long as a key is there, so is its counter.
    func iterator() -> AnyIterator<[UInt8]> {
        let kinds = digests.sorted { $0.key > $1.key }
        let long = kinds.lazy.flatMap { kind, ids in
            ids.sorted { $0.words < $1.words }.lazy.map { [kind] + $0.bytes }
        }
        let short = others.sorted { $0.lexicographicallyPrecedes($1) }
        var (first, rest) = (short.makeIterator(), long.makeIterator())
        return AnyIterator { first.next() ?? rest.next() }
    }
}
