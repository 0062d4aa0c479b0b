internal import Kafka

/// `reset`: the group's offsets to the end (or the beginning) of the requests, and everything in the ledger forgotten.
///
/// Offsets go first. A crash behind them leaves a group that reads on at the new place with all or some of its ledger:
/// what was judged before lies behind it, or is read again and refused by the counters that still stand. The other way
/// round requests that were on their way would meet a ledger that has forgotten which of them it had accepted. Either
/// way the same command finishes the work.
struct LedgerReset {
    struct Row: Equatable {
        var offsets: RequestOffsets
        var target: Int64
        /// Ledger records to be tombstoned.
        var live: Int
    }

    private let access: LedgerAccess
    private let group: String
    private let writer: LedgerWriter?
    private var live: [LiveLedgerKeys]
    private let ends: [Int64]
    let rows: [Row]

    /// Looks at group and ledger.
    ///
    /// - Parameter writes: false for the plan alone; nothing is touched then.
    init(_ access: LedgerAccess, toBeginning: Bool, writes: Bool, console: Console) throws {
        self.access = access
        group = try access.groupID()
        let partitions = try access.partitionCount()
        try access.requireEmptyGroup()
        writer = writes ? try LedgerWriter(access) : nil
        try writer?.open()
        var live = [LiveLedgerKeys](repeating: LiveLedgerKeys(), count: Int(partitions))
        var progress = ProgressMeter("reset", unit: "ledger records read", total: nil, console: console)
        var records = 0
        ends = try LedgerReader(access, partitions: partitions).readSettled { record in
            records += 1
            progress.update(records)
            // Whatever it says, and whether this version can read it or not.
            if let key = record.key { live[Int(record.partition)].note(key, isLive: record.value != nil) }
        }
        progress.finish()
        rows = try access.requestOffsets(partitions: partitions).map {
            Row(offsets: $0, target: toBeginning ? $0.low : $0.high, live: live[Int($0.partition)].count)
        }
        self.live = live
    }

    var isDone: Bool { rows.allSatisfy { $0.offsets.committed == $0.target && $0.live == 0 } }

    /// The plan as a table.
    var text: String {
        var table = TextTable([.right, .right, .right, .right])
        table.add("partition", "offset", "new offset", "ledger records to forget")
        for row in rows {
            let committed = row.offsets.committed.map { Int($0).grouped } ?? "none"
            table.add(String(row.offsets.partition), committed, Int(row.target).grouped, row.live.grouped)
        }
        return "group \(group), requests \(access.topics.requests), ledger \(access.topic)\n" + table.text
    }

    /// - Returns: how many ledger records were tombstoned.
    func perform(console: Console) throws -> Int {
        guard let writer else { preconditionFailure("the plan alone was asked for") }
        try access.setRequestOffsets(
            rows.map { PartitionOffset(partition: $0.offsets.partition, offset: $0.target) }
        )
        var progress = ProgressMeter(
            "reset",
            unit: "records forgotten",
            total: rows.reduce(0) { $0 + $1.live },
            console: console
        )
        var partition = 0
        var keys = live[0].iterator()
        try writer.write(from: ends, progress: { progress.update($0) }) {
            while true {
                if let key = keys.next() { return LedgerRecord(partition: Int32(partition), key: key, value: nil) }
                guard partition + 1 < live.count else { return nil }
                partition += 1
                keys = live[partition].iterator()
            }
        }
        progress.finish()
        return writer.written
    }
}
