package import Streams

/// Topics in memory, the ledger among them: the loop polls a test's records, and its commits are kept. It never
/// fails, and outlives the loops that work on it.
package final class MemoryStreams: RequestSource, RecordTransaction {
    package let partitions: Int32
    /// When the ledger's topic says that a commit was appended; nil = it keeps the writer's times.
    package var appendTime: Int64?
    private let memory = MemoryMember()
    private var input: [Int32: [InboundRecord]] = [:]
    private var read: [Int32: Int] = [:]
    private var committed: [Int32: Int] = [:]
    private var isAssigned = false
    private var restoring: [StoredRecord] = []

    /// The output topics' records in the order that readers see.
    package private(set) var outputs: [OutboundRecord] = []
    /// The ledger topic before compaction, in offset order.
    package private(set) var ledger: [StoredRecord] = []

    package init(partitions: Int32) {
        self.partitions = partitions
        memory.restoring = { [unowned self] partitions, kept in
            restoring = compacted.filter { partitions.contains($0.partition) && !kept.contains($0.partition) }
        }
        memory.reading = { [unowned self] most in memory.next(most, of: &restoring) }
    }

    /// Appends a record to the requests topic.
    package func add(_ record: InboundRecord) { input[record.partition, default: []].append(record) }

    /// Appends a record to the ledger topic, for the next loop to restore.
    package func addLedger(key: [UInt8], value: [UInt8]?, on partition: Int32 = 0) {
        ledger.append(StoredRecord(partition: partition, key: key, value: value))
    }

    /// The offset that the next record of a partition has.
    package func end(of partition: Int32) -> Int64 { Int64(input[partition]?.count ?? 0) }

    package var compacted: [StoredRecord] { ledger.compacted }

    /// Most records that a poll gives.
    package var mostRecords = Int.max

    /// The last commits of offsets are lost; outputs and ledger are not.
    package func loseOffsets() { committed = [:] }

    /// The ledger's last records never arrived: it has so many.
    package func cutLedger(to count: Int) { ledger.removeLast(ledger.count - count) }

    /// The member leaves, and another one joins.
    package func restart() {
        (read, isAssigned) = (committed, false)
    }

    package func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        var round = PollRound()
        if !isAssigned {
            isAssigned = true
            round.events = [memory.event(.assigned(Array(0..<partitions)))]
            return round
        }
        for partition in 0..<partitions {
            let records = input[partition] ?? []
            while round.records.count < min(limits.records, mostRecords), read[partition, default: 0] < records.count {
                round.records.append(.record(records[read[partition, default: 0]]))
                read[partition, default: 0] += 1
            }
        }
        return round
    }

    package func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) {
        for record in records.joined() {
            if record.stream == .ledger {
                ledger.append(StoredRecord(partition: record.partition, key: record.key ?? [], value: record.value))
            } else {
                outputs.append(record)
            }
        }
        for position in positions { committed[position.partition] = Int(position.offset) }
    }

    package func abort() -> Bool {
        read = committed
        return true
    }

    package var member: (any GroupMember)? { memory }
    package let timeShare = 0.0
    /// false = as in at-least-once delivery: the ledger gets the applied offset too.
    package var isAtomic = true
}

extension [StoredRecord] {
    /// The ledger topic as compaction leaves it at best: the last value of each key, no tombstones.
    var compacted: [StoredRecord] {
        var last: [Int32: [[UInt8]: Int]] = [:]
        for (index, record) in enumerated() { last[record.partition, default: [:]][record.key] = index }
        return last.values.flatMap(\.values).sorted().map { self[$0] }.filter { $0.value != nil }
    }
}
