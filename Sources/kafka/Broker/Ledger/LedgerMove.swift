internal import AppAttest
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams

/// `move`: a ledger into that of other topics, which may have another number of partitions, or be on another cluster.
///
/// First marks hold each partition of the new ledger; then marks hold those of the old one; then the records are written,
/// and the new ledger's own marks last. So at no moment is a key judged by two ledgers, or by one that lacks records. After
/// a crash the same command finishes the work; another target is refused, since the marks name their move.
package final class LedgerMove {
    package let source: LedgerAccess
    package let target: LedgerAccess
    package let partitions: Int32
    package private(set) var ledger: MovedLedger
    /// Requests that no worker has judged, by partition.
    package private(set) var unread: [Int32: Int] = [:]
    package let isDone: Bool
    private let ends: [Int64]
    /// The random bytes of the first attempt; nil = an older version's.
    private let identity: [UInt8]?
    private var requestEnds: [Int32: Int64] = [:]
    private var notes: [String] = []
    private let present: LedgerContent

    /// Reads both ledgers and judges whether the move may be made; writes nothing.
    ///
    /// - Parameter identity: random bytes that name the move, if it is the first attempt.
    package init(
        _ source: LedgerAccess,
        to target: LedgerAccess,
        identity: [UInt8],
        progress: (Int) -> Void
    ) throws {
        guard let old = source.partitioner, let new = target.partitioner else {
            throw ConfigurationFault("worker.json: partitioner is unchecked, so the partition of a key is unknown.")
        }
        (self.source, self.target) = (source, target)
        // A wrong configuration is known before a broker is asked.
        for access in [self.source, self.target] { _ = try access.groupID() }
        let partitions = try self.target.partitionCount()
        let counts = try self.source.partitionCounts()
        try self.source.requireEmptyGroup()
        try self.target.requireEmptyGroup()
        var ledger = MovedLedger(KeyHomes(old, counts.ledger), to: KeyHomes(new, partitions))
        let reader = try LedgerReader(self.source, partitions: counts.ledger)
        ends = try reader.changes(untilSettled: true, progress: progress) { change, record in
            if let change { ledger.take(change, of: record.partition) }
        }
        ledger.join()
        (self.ledger, self.partitions) = (ledger, partitions)
        let present = try LedgerContent(self.target, partitions: partitions)
        self.present = present
        self.identity = present.marks.isEmpty ? identity : present.marks.values.first?.position.move
        let marks = ledger.newMarks(Array(try self.target.groupID().utf8), self.identity, isWhole: true)
        // A source that went on has counters that the target lacks.
        isDone =
            ledger.isLeft && ledger.isLeft(onlyBy: self.identity)
            && marks.allSatisfy { record in
                present.marks[record.partition].map { StoredRecord(.mark($0), on: record.partition) } == record
            }
        guard !isDone else { return }
        try requireTarget()
        unread = try judged(counts.requests)
    }

    /// The new ledger must be empty, or an earlier attempt's; and that of no other move than the old one's.
    private func requireTarget() throws {
        let isBegun = present.marks.values.contains { $0.position.partitions == 0 }
        let isOfOne = Set(present.marks.values.map(\.position.move)).count < 2
        guard present.isEmpty || isBegun && isOfOne else {
            throw CommandFault("\(target.topic) has records already: name new topics in the configuration of --to.")
        }
        guard try target.requestOffsets(partitions: partitions).allSatisfy({ $0.committed == nil }) else {
            throw CommandFault(
                "group \(try target.groupID()) has read \(target.topics.requests) already: name new topics in the "
                    + "configuration of --to."
            )
        }
        let named = ledger.marks.values.compactMap(\.position.partitions)
        if named.contains(0) || !(isBegun && ledger.isLeft(onlyBy: identity)) && named.contains(where: { $0 < 0 }) {
            let sentence = KeyPlacement.contradiction(named.min(), Int32(ends.count)) ?? ""
            throw CommandFault("\(sentence). An interrupted move is repeated, to its own target.")
        }
    }

    // MARK: The requests

    /// Refuses a partition that workers would hold: nothing would show afterwards that its ledger lost records, or that it
    /// belongs to another group. The plan shows what workers would log about the others.
    private func judged(_ partitions: Int32) throws -> [Int32: Int] {
        let (offsets, group) = (try source.requestOffsets(partitions: partitions), Array(try source.groupID().utf8))
        var starts: [Int32: Int64] = [:]
        for found in offsets {
            let number = found.partition
            requestEnds[number] = found.high
            var positions = PartitionPositions(number, committed: found.committed, isOwn: found.isOwn, group: group)
            positions.mark = ledger.position(of: number)
            positions.ledgerIsEmpty = ledger.isEmpty(number)
            positions.groupHasOffsets = offsets.contains { $0.committed != nil }
            positions.ends = (found.low, found.high)
            switch positions.decision {
            case .hold(let sentence): throw CommandFault("partition \(number): \(sentence).")
            case .start(let offset, let report):
                starts[number] = offset ?? found.low
                if let note = report.note { notes.append("partition \(number): \(note)") }
            }
        }
        return try unread(from: starts, to: offsets)
    }

    /// Requests between a start and the end: markers of transactions may be all there is.
    private func unread(from starts: [Int32: Int64], to offsets: [RequestOffsets]) throws -> [Int32: Int] {
        let open = offsets.filter { starts[$0.partition] ?? 0 < $0.high }.map(\.partition)
        guard !open.isEmpty else { return [:] }
        var unread: [Int32: Int] = [:]
        do {
            try CommandFault.explaining("the requests cannot be read") {
                let scan = try TopicScan(
                    source.cluster.makeReader(of: source.topics.requests),
                    partitions: Int32(offsets.count),
                    only: Set(open),
                    from: starts,
                    timeBudget: .seconds(60),
                    on: source.cluster.time
                )
                try scan.read(upTo: offsets.map { Watermarks(low: starts[$0.partition] ?? 0, high: $0.high) }) {
                    unread[$0.partition, default: 0] += 1
                }
            }
        } catch let fault as TopicScan.Standstill {
            throw CommandFault("partition \(fault.partition) of the requests has an open transaction: try again later.")
        }
        return unread
    }

    // MARK: Writing

    /// - Parameter progress: called with the number of committed records of the new ledger.
    package func perform(progress: (Int) -> Void) throws {
        let group = Array(try target.groupID().utf8)
        // Before anything is written: what is aborted can be read, too.
        try source.requireEmptyGroup()
        if present.isEmpty {
            try write(to: target, from: present.ends, ledger.newMarks(group, identity, isWhole: false))
        }
        try write(to: source, from: ends, ledger.oldMarks(identity))
        // Whatever an earlier attempt has left and this one does not write goes.
        var left = try LedgerContent(target, partitions: partitions)
        for partition in 0..<partitions { left.forget(LedgerMarks.key, on: partition) }
        var marks = ledger.newMarks(group, identity, isWhole: true)[...]
        let records = ledger.records()
        var stale: AnyIterator<StoredRecord>?
        let writer = try LedgerWriter(target)
        try writer.open()
        try writer.write(from: left.ends, progress: progress) {
            if let record = records.next() {
                left.forget(record.key, on: record.partition)
                return record
            }
            if stale == nil { stale = left.tombstones() }
            if let record = stale?.next() { return record }
            try source.requireEmptyGroup()
            return marks.popFirst()
        }
    }

    /// Each with a writer of its own: source and target may have one transactional id.
    private func write(to access: LedgerAccess, from ends: [Int64], _ records: [StoredRecord]) throws {
        guard !records.isEmpty else { return }
        var rest = records[...]
        let writer = try LedgerWriter(access)
        try writer.open()
        try writer.write(from: ends) { rest.popFirst() }
    }
}

extension LedgerMove {
    /// The partitions of the old requests that grew while the move ran: no worker will judge those requests.
    package func grown() throws -> [Int32] {
        try source.requestOffsets(partitions: Int32(requestEnds.count))
            .filter { $0.high > requestEnds[$0.partition] ?? 0 }.map(\.partition)
    }

    /// What will be done, for people.
    package func plan() throws -> String {
        let open = unread.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            .map { "\($0.value.counted("request")) unread on partition \($0.key)" }
        return "group \(try source.groupID()), ledger \(source.topic): "
            + (open.isEmpty ? "no request is unread" : open.joined(separator: ", "))
            + "\nto group \(try target.groupID()), ledger \(target.topic), \(Int(partitions).counted("partition")): "
            + "\(ledger.keyCount.counted("key")), \(ledger.banCount.counted("ban")), \(ledger.usedCount.counted("used id"))"
            + (ledger.conflicts == 0
                ? "" : "; \(ledger.conflicts.counted("record")) left out: its key lies twice, as another key")
            + notes.map { "\n" + $0 }.joined()
    }
}
