internal import Kafka
package import KafkaPorts
package import Pipeline
internal import Settings
package import Streams

extension CommandFault {
    static func writtenMeanwhile(_ topic: String, _ partition: Int32) -> CommandFault {
        let advice = "stop every worker and try again; what a reset waits for begins again"
        return CommandFault("another process wrote to \(topic), partition \(partition): \(advice).")
    }
}

extension StoredRecord {
    package init(_ change: LedgerChange, on partition: Int32) {
        let (key, value) = LedgerCodec.encode(change)
        self.init(partition: partition, key: key, value: value)
    }

    fileprivate var output: OutboundRecord {
        OutboundRecord(
            stream: .ledger,
            partition: partition,
            sourceOffset: 0,
            sourceTimestamp: 0,
            key: key,
            value: value
        )
    }
}

/// Writes to the ledger topic in transactions while no worker writes to it.
///
/// Before each commit the group must be empty and the partitions' ends must be where our own records put them. The
/// records are in the topic by then, so a worker that joins later restores up to their end and sees their outcome. The
/// records of a worker that joined and left since the ledger was read show in the ends. No record is overwritten unseen.
package final class LedgerWriter {
    /// Brokers, group and time, as a ledger is written.
    package struct Ports {
        let makeProducer: () throws(KafkaFault) -> any TransactionProducer
        /// Throws a ``CommandFault`` where the group has members.
        let requireEmptyGroup: () throws -> Void
        /// The oldest and next offsets of partitions; records of open transactions lie before them.
        let ends: ([Int32]) throws -> [Int32: Watermarks]
        let token: any MemberToken
        let time: WaitingTime

        package init(
            makeProducer: @escaping () throws(KafkaFault) -> any TransactionProducer,
            requireEmptyGroup: @escaping () throws -> Void,
            ends: @escaping ([Int32]) throws -> [Int32: Watermarks],
            token: any MemberToken,
            time: WaitingTime
        ) {
            (self.makeProducer, self.requireEmptyGroup, self.ends) = (makeProducer, requireEmptyGroup, ends)
            (self.token, self.time) = (token, time)
        }
    }

    private let topic: String
    private let ports: Ports
    private let transactionRecords: Int
    private let writer: CommandWriter
    /// Records that are committed.
    package private(set) var written = 0

    /// - Parameter transactionRecords: at most, in one transaction.
    package init(_ id: String, topic: String, _ ports: Ports, transactionRecords: Int) {
        (self.topic, self.ports, self.transactionRecords) = (topic, ports, transactionRecords)
        writer = CommandWriter(id, on: ports.time, makeProducer: ports.makeProducer)
    }

    package convenience init(_ access: LedgerAccess, transactionRecords: Int = 20_000) throws {
        let (id, topic, cluster) = (try access.transactionalID(), access.topic, access.cluster)
        let ports = Ports(
            makeProducer: { () throws(KafkaFault) in
                try cluster.makeProducer(id, of: topic, source: access.topics.requests)
            },
            requireEmptyGroup: access.requireEmptyGroup,
            ends: { try access.ends(of: topic, $0) },
            token: cluster.token(ofGroup: try access.groupID()),
            time: cluster.time
        )
        self.init(id, topic: topic, ports, transactionRecords: transactionRecords)
    }

    /// Stops a command of the same kind that is still at work, and ends its open transaction. Call it before reading
    /// the ledger.
    package func open() throws { try explained(writer.takeOver) }

    /// Writes all records of `next`, up to `transactionRecords` at a time.
    ///
    /// - Parameters:
    ///   - ends: of all partitions, as of ``LedgerReader/readSettled(_:)``.
    ///   - progress: called with the number of committed records.
    /// - Throws: ``CommandFault``; the ``written`` records stay.
    package func write(
        from ends: [Int64],
        progress: (Int) -> Void = { _ in },
        _ next: () throws -> StoredRecord?
    ) throws {
        var ends = ends
        while let first = try next() {
            var records = [first.output]
            while records.count < transactionRecords, let record = try next() { records.append(record.output) }
            let counts = Dictionary(grouping: records, by: \.partition).mapValues { Int64($0.count) }
            try explained {
                try writer.write(records, ports.token) {
                    try ports.requireEmptyGroup()
                    try requireEnds(ends, counts)
                }
            }
            // The commit's own marker takes an offset in each partition that it concerns.
            for (partition, count) in counts { ends[Int(partition)] += count + 1 }
            written += records.count
            progress(written)
        }
    }

    private func requireEnds(_ ends: [Int64], _ counts: [Int32: Int64]) throws {
        let found = try ports.ends(counts.keys.sorted())
        let wrong = counts.filter { found[$0.key]?.high != ends[Int($0.key)] + $0.value }
        if let partition = wrong.keys.min() { throw CommandFault.writtenMeanwhile(topic, partition) }
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
