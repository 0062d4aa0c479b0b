internal import KafkaPorts
internal import Streams

/// Reads the ledger topic, or another one, without a group: committed records, up to the last stable offset.
final class SimulatedReader: RecordReading {
    private struct Partition {
        var next: Int64
        /// The high watermark at the start: what comes from behind it was written since.
        let known: Int64
        /// Which of the process's paces a slow leader has.
        let slowness: Int?
        /// nil = nothing is known yet.
        var position: Int64?
        /// The library reads nothing of it any more.
        var hasFailed = false
        var isHeard = false
        /// Since when the topic ends before what was known, and in how many polls.
        var cut: (since: Int64, polls: Int, last: Int64)?
    }

    /// A client lives on for so long after the files were renewed that it has read.
    private static let mostOutdated: Int64 = 10_000

    private unowned let process: SimulatedProcess
    private let stream: OutputTopic
    /// Whether it follows ledgers of others, which nothing waits for.
    private let isStandby: Bool
    private let renewals: Int
    private var partitions: [Int32: Partition] = [:]
    private var pending: KafkaFault?
    private var isDiscarded = false

    init(_ process: SimulatedProcess, of stream: OutputTopic = .ledger, isStandby: Bool = false) {
        (self.process, self.stream, self.isStandby, renewals) = (process, stream, isStandby, process.renewals)
        if stream == .ledger, !isStandby { process.reader = self }
    }

    private var broker: SimulatedBroker { process.broker }

    var isReading: Bool { !partitions.isEmpty && !isDiscarded }

    func reads(_ partition: Int32) -> Bool { !isDiscarded && partitions[partition] != nil }

    /// Whether nothing of a partition's ledger was read yet, and something is there.
    func begins(_ partition: Int32) -> Bool {
        guard !isDiscarded, let partition = partitions[partition] else { return false }
        return partition.next == 0 && partition.known > 0
    }

    func start(_ starts: [PartitionOffset]) throws(KafkaFault) {
        guard process.enter() else { throw .ofDeadProcess }
        // Some callers keep their partitions in a dictionary.
        for start in starts.sorted(by: { $0.partition < $1.partition }) {
            if partitions[start.partition] != nil { process.violate("starts a partition that is read") }
            if start.offset > 0, !isStandby { broker.counts.add(.restoredTail) }
            let slowness = process.strikes(.slowLedger, 0.25) ? process.random.below(3) : nil
            let next = start.offset == PartitionOffset.beginning ? 0 : start.offset
            let known = Int64(broker.log(stream, start.partition).highWatermark)
            partitions[start.partition] = Partition(
                next: next,
                known: known,
                slowness: slowness,
                position: start.offset >= 0 ? start.offset : nil
            )
        }
    }

    func stop(_ numbers: [Int32]) throws(KafkaFault) {
        guard process.enter() else { throw .ofDeadProcess }
        if broker.wrong == .stopIsIgnored { return }
        if let partition = pending?.partition, numbers.contains(partition) { pending = nil }
        for number in numbers { partitions[number] = nil }
    }

    func poll(most records: Int, waiting milliseconds: Int) throws(KafkaFault) -> LedgerChunk {
        var chunk = LedgerChunk()
        try poll(records, milliseconds) { record, partition, offset in
            chunk.records.append(StoredRecord(partition: partition, key: record.key ?? [], value: record.value))
            chunk.offsets.append(offset)
        }
        return chunk
    }

    func records(most: Int, waiting milliseconds: Int) throws(KafkaFault) -> [TopicRecord] {
        var records: [TopicRecord] = []
        try poll(most, milliseconds) { record, partition, offset in
            records.append(
                TopicRecord(
                    partition: partition,
                    offset: offset,
                    key: record.key,
                    value: record.value,
                    timestamp: record.sourceTimestamp,
                    headers: record.headers
                )
            )
        }
        if process.isDead { throw .ofDeadProcess }
        return records
    }

    private func poll(
        _ most: Int,
        _ milliseconds: Int,
        _ take: (OutboundRecord, Int32, Int64) -> Void
    ) throws(KafkaFault) {
        guard process.enter(mayWait: true), !isDiscarded else { return }
        if let fault = pending.take() { throw fault }
        let all = min(most, 1 + process.random.below(12))
        var left = all
        for number in partitions.keys.sorted() where !isExpired {
            noteCut(number)
            let slowness = partitions[number]?.slowness
            guard slowness.map({ process.random.below(process.slowPaces[$0]) == 0 }) ?? true else { continue }
            read(number, &left, take)
            if pending != nil { break }
        }
        guard left == all else { return }
        if let fault = pending.take() { throw fault }
        if milliseconds > 0 { process.wait?(milliseconds) }
    }

    private func read(_ number: Int32, _ left: inout Int, _ take: (OutboundRecord, Int32, Int64) -> Void) {
        guard var partition = partitions[number], !partition.hasFailed else { return }
        defer { partitions[number] = partition }
        let log = broker.log(stream, number)
        partition.isHeard = true
        guard partition.next <= Int64(log.highWatermark) else {
            partition.hasFailed = true
            pending = KafkaFault(.autoOffsetReset, "offset \(partition.next) is gone").reading(number)
            return broker.counts.add(.offsetGone)
        }
        let end = broker.wrong == .readsOpen ? log.highWatermark : log.lastStable
        while partition.next < Int64(end), left > 0 {
            let offset = Int(partition.next)
            partition.next += 1
            guard let record = log.visible(at: offset) else { continue }
            if broker.wrong == .skipsTombstones, record.value == nil { continue }
            if process.strikes(.damagedOnce, process.chances.client.damagedOnce) {
                // The library skips what it could not read; the position stays before it.
                pending = KafkaFault(.badMsg, "a record of \(stream.rawValue) is damaged").reading(number)
                return partition.position = Int64(offset)
            }
            if partition.next > partition.known, !isStandby { broker.counts.add(.restoredFurther) }
            take(record, number, Int64(offset))
            left -= 1
        }
        partition.position = partition.next
        if partition.next < partition.known, left > 0, !isStandby { broker.counts.add(.restoreWaited) }
    }

    /// A question for the ends has failed: the next one, ten seconds later, may tell that the topic was cut.
    func noteUnanswered() {
        for number in partitions.keys { partitions[number]?.cut?.since = broker.now }
    }

    /// The end that the topic had is never reached again.
    private func noteCut(_ number: Int32) {
        guard process.wait == nil, !isStandby, var partition = partitions[number] else { return }
        defer { partitions[number] = partition }
        let end = Int64(broker.log(stream, number).highWatermark)
        guard partition.next < partition.known, end < partition.known, !process.isBrokerSilent else {
            return partition.cut = nil
        }
        // A process that has slept knows of nothing that happened meanwhile.
        if let last = partition.cut?.last, broker.now - last > 5_000 { partition.cut = nil }
        let since = partition.cut?.since ?? broker.now
        var polls = (partition.cut?.polls ?? 0) + 1
        if polls == 20 {
            if broker.now - since > 45_000 { process.violate("waits for an end that the ledger of \(number) has lost") }
            polls = 15
        }
        partition.cut = (since, polls, last: broker.now)
    }

    func position(of partition: Int32) -> Int64? { partitions[partition]?.position }

    func isAtEnd(of partition: Int32) -> Bool {
        partitions[partition]?.position == Int64(broker.log(stream, partition).lastStable)
    }

    func watermarks(of partition: Int32, timeoutMilliseconds: Int) throws(KafkaFault) -> Watermarks {
        guard process.enter(mayWait: true) else { throw .ofDeadProcess }
        if process.strikes(.queryUnanswered, process.chances.client.queryUnanswered) {
            process.wait?(timeoutMilliseconds)
            throw .timedOut("no broker has answered in \(timeoutMilliseconds) ms")
        }
        if process.strikes(.retriable, process.chances.retriable) {
            throw KafkaFault(.transport, "the connection broke")
        }
        return Watermarks(low: 0, high: Int64(broker.log(stream, partition).highWatermark))
    }

    func connect(to partitions: [Int32], timeoutMilliseconds: Int) {}

    var isOutdated: Bool { renewals != process.renewals }

    /// Whether the broker takes the client's certificate no longer.
    private var isExpired: Bool { isOutdated && broker.now - process.renewedAt > Self.mostOutdated }

    var hasHeardAll: Bool { partitions.values.allSatisfy(\.isHeard) }

    /// Whether a partition's leader answers few polls.
    func isSlow(_ partition: Int32) -> Bool { partitions[partition]?.slowness != nil }

    func discard() {
        guard !isDiscarded else { return }
        isDiscarded = true
        _ = process.forgetClient()
        if process.reader === self { process.reader = nil }
    }
}
