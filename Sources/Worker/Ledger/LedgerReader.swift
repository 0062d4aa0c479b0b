internal import Kafka
internal import Settings

/// Reads the ledger topic from its start to its end: committed records only, without a group.
final class LedgerReader {
    private static let roundRecords = 10_000
    private static let waitMilliseconds = 200
    private static let answerMilliseconds = 10_000
    /// After this long without a record the broker is asked whether it is there.
    private static let doubt = Duration.seconds(5)

    private let reader: TopicReader
    private let partitions: Range<Int32>
    private let wanted: [Int32]
    /// After this long without a record the reader gives up: longer than a dead worker's transaction lasts by default.
    private let patience: Duration

    /// - Parameter chosen: the partitions to read; nil = all of them.
    init(
        _ access: LedgerAccess,
        partitions: Int32,
        only chosen: Set<Int32>? = nil,
        patience: Duration = .seconds(120)
    ) throws {
        self.partitions = 0..<partitions
        self.patience = patience
        wanted = self.partitions.filter { chosen?.contains($0) ?? true }
        do throws(KafkaFault) {
            reader = try TopicReader(access.properties, topic: access.topic)
            try reader.start(wanted.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        } catch {
            throw CommandFault("the ledger cannot be read: \(error.message).")
        }
    }

    /// Reads everything up to the partitions' present ends, and records that happen to come after them.
    ///
    /// - Returns: the present ends of all partitions.
    /// - Throws: ``CommandFault`` where the broker does not deliver it, or the error of `body`.
    @discardableResult
    func read(_ body: (TopicRecord) throws -> Void) throws -> [Int64] {
        do {
            let marks = try partitions.map { partition in
                try BrokerRetry.ask { () throws(KafkaFault) in
                    try reader.watermarks(of: partition, timeoutMilliseconds: Self.answerMilliseconds)
                }
            }
            let unread = wanted.filter { marks[Int($0)].low < marks[Int($0)].high }
            try read(unread, upTo: marks.map(\.high), body)
            return marks.map(\.high)
        } catch let fault as KafkaFault {
            let way = fault.partition.map { "; --partitions leaves partition \($0) out" } ?? ""
            throw CommandFault("the ledger cannot be read: \(fault.message)\(way).")
        }
    }

    /// Reads everything until the partitions' ends stop moving: then no transaction is open.
    func readSettled(_ body: (TopicRecord) throws -> Void) throws -> [Int64] {
        var ends = try read(body)
        while true {
            // The end of another writer's transaction has an offset of its own, after the ends that were asked for.
            let now = try read(body)
            if now == ends { return ends }
            ends = now
        }
    }

    private func read(_ unread: [Int32], upTo ends: [Int64], _ body: (TopicRecord) throws -> Void) throws {
        var open = unread
        var (idleSince, askedAt) = (ContinuousClock.now, ContinuousClock.now)
        while true {
            open.removeAll { (reader.position(of: $0) ?? -1) >= ends[Int($0)] }
            guard let first = open.first else { return }
            let records = try reader.poll(maxRecords: Self.roundRecords, timeoutMilliseconds: Self.waitMilliseconds)
            for record in records { try body(record) }
            let now = ContinuousClock.now
            if !records.isEmpty { (idleSince, askedAt) = (now, now) }
            if now - askedAt >= Self.doubt {
                try BrokerRetry.ask { () throws(KafkaFault) in
                    _ = try reader.highWatermark(of: first, timeoutMilliseconds: Self.answerMilliseconds)
                }
                askedAt = .now
            }
            guard now - idleSince < patience else {
                throw CommandFault(
                    "the ledger cannot be read to its end: no more records of partition \(first) arrived for "
                        + "\(patience); a transaction may be open there, try again when it has timed out."
                )
            }
        }
    }
}
