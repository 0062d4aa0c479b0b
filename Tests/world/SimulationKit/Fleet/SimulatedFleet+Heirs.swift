internal import Pipeline
internal import Streams

/// How long each partition of an assignment has waited for its start, or for the end of what its last owner left open, in
/// moves of its process: a sleeping one breaks no promise.
struct StartWatch {
    private struct Wait {
        /// While nothing held it back, and while only a dead process did.
        var free: Int64 = 0, orphaned: Int64 = 0
    }

    private static let mostFree: Int64 = 5_000
    private static let mostOrphaned: Int64 = 10_000

    private var waits: [Int32: Wait] = [:]
    /// Whom the newest mark named when the partition was assigned.
    private var writers: [Int32: String?] = [:]
    private var assignment: [Int] = []
    private var last: Int64 = 0

    /// - Returns: the time that has passed in this process since its last move.
    mutating func begin(_ assignment: [Int], at now: Int64) -> Int64 {
        if self.assignment != assignment { (self.assignment, waits, writers) = (assignment, [:], [:]) }
        defer { last = now }
        return min(now - last, 50)
    }

    mutating func lastWriter(of partition: Int32, _ found: () -> String?) -> String? {
        if let known = writers[partition] { return known }
        let writer = found()
        writers[partition] = .some(writer)
        return writer
    }

    mutating func forget(_ partition: Int32) { waits[partition] = nil }

    /// - Returns: whether the promise is broken; said once.
    mutating func note(_ partition: Int32, isOrphaned: Bool, _ passed: Int64) -> Bool {
        var wait = waits[partition] ?? Wait()
        defer { waits[partition] = wait }
        guard isOrphaned else {
            wait.free += passed
            return wait.free > Self.mostFree && wait.free - passed <= Self.mostFree
        }
        (wait.free, wait.orphaned) = (0, wait.orphaned + passed)
        return wait.orphaned > Self.mostOrphaned && wait.orphaned - passed <= Self.mostOrphaned
    }
}

extension SimulatedFleet {
    /// A partition whose offset and ledger are stable starts within 5 s of its assignment, whatever another's are; one that
    /// only a process holds back which has left the group, and which its newest mark names, within 10 s; and what such a
    /// process holds back of the results is readable by then. In a calm world: nothing is asked in vain there.
    func noteUnstarted(of worker: SimulatedWorker) {
        let process = worker.process
        guard let consumer = process.consumer else { return }
        let assignment = [consumer.memberID ?? 0, consumer.generation]
        let passed = worker.watch.begin(assignment, at: broker.now)
        guard !isChaotic, consumer.hasAnsweredAssignment, !worker.isStopping else { return }
        let started = Set(worker.resumed).union(worker.loop.held.keys)
        for partition in consumer.assigned ?? [] {
            let isSlow = process.reader?.isSlow(partition) ?? false
            let hasStarted = started.contains(partition)
            let holders = broker.holders(of: partition, hasStarted ? .results : .ledger)
            let writer = worker.watch.lastWriter(of: partition) { broker.lastWriter(of: partition) }
            let isDone = hasStarted && holders.isEmpty
            guard !isDone, !isSlow, !process.isBrokerSilent, !broker.isHarmed(partition) else {
                worker.watch.forget(partition)
                continue
            }
            guard holders.allSatisfy({ $0 == writer && $0 != worker.name && !broker.group.names.contains($0) }) else {
                worker.watch.forget(partition)
                continue
            }
            guard worker.watch.note(partition, isOrphaned: !holders.isEmpty, passed) else { continue }
            let what = hasStarted ? "leaves results of" : "starts"
            broker.violations.append("\(worker.name) \(what) partition \(partition) late, held back by \(holders)")
        }
    }

    /// A process dies inside a transaction of one of its partitions.
    func leaveOpen(_ worker: SimulatedWorker) -> Bool {
        guard plan.delivery == .exactlyOnce, let partition = worker.settled?.randomElement(using: &random) else {
            return false
        }
        // Another living process of this name would go on with the transaction, and commit it.
        guard workers.filter({ $0.name == worker.name }).count == 1 else { return false }
        return broker.leaveOpen(worker.name, partition, withOffset: chance(0.7))
    }
}

extension SimulatedBroker {
    /// Opens a transaction that its producer never ends: a record of a ledger, or of the results before the ledger has one,
    /// and mostly the partition's offset.
    fileprivate func leaveOpen(_ name: String, _ partition: Int32, withOffset: Bool) -> Bool {
        guard let producer = producers[name], producer.open == nil, !isEnding(name),
            !delayed.contains(where: { $0.producer == name }), !late.contains(where: { $0.producer == name })
        else { return false }
        var transaction = Transaction(producer: name, startedAt: now)
        let topic = Topic(now % 3 == 0 ? .results : .ledger, partition)
        transaction.topics = [topic]
        if withOffset, topic.stream == .ledger { transaction.offsets[partition] = committed[partition, default: 0] }
        transactions.append(transaction)
        producers[name]?.open = transactions.count - 1
        var mark = PartitionMark(appliedOffset: 0, group: Array(groupName.utf8), delivery: .transaction)
        mark.position.partitions = markedPartitions(of: partition)
        var record = OutboundRecord(.mark(mark), partition: partition)
        record.stream = topic.stream
        logs[topic, default: PartitionLog()].append(record, transaction: transactions.count - 1)
        counts.add(.leftOpen)
        counts.note("\(now) \(name) leaves a transaction of \(partition) open")
        return true
    }

    /// An heir takes an id over to end what is open under it.
    func abort(_ name: String) {
        counts.add(.orphanAborted)
        counts.note("\(now) \(name) is ended by an heir")
        fencedByHeirs.insert(name)
        _ = initProducer(name)
    }

    /// The producers whose transactions hold back a partition's offset or ledger, or its results.
    fileprivate func holders(of partition: Int32, _ stream: OutputTopic) -> [String] {
        transactions.filter { transaction in
            let holdsOffset = transaction.offsets[partition] != nil && transaction.holdsOffsets
            return !transaction.isDone
                && (holdsOffset && stream == .ledger || transaction.topics.contains(Topic(stream, partition)))
        }.map(\.producer)
    }

    /// The transactional id in the newest mark that can be read.
    fileprivate func lastWriter(of partition: Int32) -> String? {
        lastMark(partition)?.position.writer.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether requests or facts of a partition are missing.
    func isHarmed(_ partition: Int32) -> Bool {
        hasLostMemories(partition) || overtaken.contains(partition) || isDamaged(partition)
    }
}
