internal import Kafka
internal import KafkaPorts
package import Pipeline
internal import Settings

/// A record for the ledger topic; a nil value is a tombstone.
package struct LedgerRecord: Equatable {
    package var partition: Int32
    package var key: [UInt8]
    package var value: [UInt8]?

    package init(partition: Int32, key: [UInt8], value: [UInt8]?) {
        (self.partition, self.key, self.value) = (partition, key, value)
    }

    package init(_ change: LedgerChange, on partition: Int32) {
        let (key, value) = LedgerCodec.encode(change)
        self.init(partition: partition, key: key, value: value)
    }
}

/// Writes to the ledger topic in transactions while no worker writes to it.
///
/// Before each commit the group must be empty and the partitions' ends must be where our own records put them. The
/// records are in the topic by then, so a worker that joins later restores up to their end and sees their outcome. The
/// records of a worker that joined and left since the ledger was read show in the ends. No record is overwritten unseen.
package final class LedgerWriter {
    private static let callMilliseconds = 10_000
    /// How long a call may be repeated while the broker gives no final answer.
    private static let timeBudget = Duration.seconds(60)

    private let access: LedgerAccess
    private let transactionRecords: Int
    private let id: String
    private var producer: TransactionalProducer
    private let reader: PartitionEnds
    /// Records that are committed.
    package private(set) var written = 0

    /// - Parameter transactionRecords: at most, in one transaction.
    package init(_ access: LedgerAccess, transactionRecords: Int = 20_000) throws {
        self.access = access
        self.transactionRecords = transactionRecords
        id = try access.transactionalID()
        (producer, reader) = try CommandFault.explaining("the ledger cannot be written") { [id] in
            (
                try TransactionalProducer(access.properties, transactionalID: id),
                try PartitionEnds(access.properties)
            )
        }
    }

    /// Stops a command of the same kind that is still at work, and ends its open transaction. Call it before reading
    /// the ledger.
    package func open() throws {
        try explained { try takeOver() }
    }

    private func takeOver() throws {
        try repeated { () throws(KafkaFault) in
            try producer.initTransactions(timeoutMilliseconds: Self.callMilliseconds)
        }
    }

    /// Writes all records of `next`, up to `transactionRecords` at a time.
    ///
    /// - Parameters:
    ///   - ends: of all partitions, as of ``LedgerReader/readSettled(_:)``.
    ///   - progress: called with the number of committed records.
    /// - Throws: ``CommandFault``; the ``written`` records stay.
    package func write(
        from ends: [Int64],
        progress: (Int) -> Void = { _ in },
        _ next: () throws -> LedgerRecord?
    ) throws {
        var ends = ends
        while let first = try next() {
            do {
                let counts = try explained { try transaction(first, ends, next) }
                // The commit's own marker takes an offset in each partition that it concerns.
                for (partition, count) in counts { ends[Int(partition)] += count + 1 }
                written += Int(counts.values.reduce(0, +))
                progress(written)
            } catch {
                // Best effort: the id's next owner, or the broker's time-out, ends the transaction as well.
                try? producer.abort(timeoutMilliseconds: Self.callMilliseconds)
                throw error
            }
        }
    }

    /// - Returns: the number of records by partition.
    private func transaction(
        _ first: LedgerRecord,
        _ ends: [Int64],
        _ next: () throws -> LedgerRecord?
    ) throws -> [Int32: Int64] {
        if producer.mayHaveRepeats { try renew() }
        try producer.begin()
        var counts: [Int32: Int64] = [:]
        var (record, total): (LedgerRecord?, Int) = (first, 0)
        while let present = record {
            try producer.produce(
                topic: access.topic,
                partition: present.partition,
                key: present.key,
                value: present.value
            )
            counts[present.partition, default: 0] += 1
            total += 1
            record = total < transactionRecords ? try next() : nil
        }
        try repeated { () throws(KafkaFault) in try producer.flush(timeoutMilliseconds: Self.callMilliseconds) }
        try access.requireEmptyGroup()
        try requireEnds(ends, counts)
        try repeated { () throws(KafkaFault) in try producer.commit(timeoutMilliseconds: Self.callMilliseconds) }
        return counts
    }

    /// A late copy of a request must not end the next transaction: to a new producer with this id it is an old epoch's.
    private func renew() throws {
        producer = try TransactionalProducer(access.properties, transactionalID: id)
        try takeOver()
    }

    private func requireEnds(_ ends: [Int64], _ counts: [Int32: Int64]) throws {
        for partition in counts.keys.sorted() {
            let found = try BrokerRetry.ask { () throws(KafkaFault) in
                try reader.watermarks(of: access.topic, partition, timeoutMilliseconds: Self.callMilliseconds)
            }
            guard found.high == ends[Int(partition)] + (counts[partition] ?? 0) else {
                throw CommandFault(
                    "another process wrote to \(access.topic), partition \(partition), in the meantime: "
                        + "stop every worker and try again."
                )
            }
        }
    }

    /// Repeats the call while the library says that it may succeed.
    private func repeated(_ call: () throws(KafkaFault) -> Void) throws(KafkaFault) {
        try BrokerRetry.ask(for: Self.timeBudget, call)
    }

    private func explained<Result>(_ body: () throws -> Result) throws -> Result {
        try CommandFault.explaining("the ledger was not written", by: Self.cause, body)
    }

    private static func cause(_ fault: KafkaFault) -> String {
        let cause =
            fault.isFenced ? "another command took over the ledger, or the broker gave up waiting" : fault.message
        return "\(cause); run it again; completed work is not repeated"
    }
}
