internal import Kafka
package import KafkaPorts
internal import Pipeline
internal import Settings

/// Reads the ledger topic from its start to its end: committed records only, without a group.
package final class LedgerReader {
    /// The time without a record after which the broker is asked whether it is there.
    private static let doubt = Duration.seconds(5)

    private let scan: TopicScan
    /// The time without a record after which the reader gives up: longer than a dead worker's transaction lasts by
    /// default.
    private let timeBudget: Duration
    /// Records that were read.
    private var count = 0

    /// - Parameter chosen: the partitions to read; nil = all of them.
    package init(
        _ access: LedgerAccess,
        partitions: Int32,
        only chosen: Set<Int32>? = nil,
        timeBudget: Duration = .seconds(120)
    ) throws {
        self.timeBudget = timeBudget
        scan = try CommandFault.explaining(Self.trouble) {
            try TopicScan(
                access.cluster.makeReader(of: access.topic),
                partitions: partitions,
                only: chosen,
                timeBudget: timeBudget,
                doubt: Self.doubt,
                on: access.cluster.time
            )
        }
    }

    package init(_ scan: TopicScan, timeBudget: Duration) { (self.scan, self.timeBudget) = (scan, timeBudget) }

    private static let trouble = "the ledger cannot be read"

    /// Reads everything up to the partitions' present ends, and records that happen to come after them.
    ///
    /// - Parameters:
    ///   - needsAll: whether the ends of partitions that are not read are needed, too.
    ///   - progress: called with the number of records read.
    /// - Returns: the present ends of all partitions.
    /// - Throws: ``CommandFault`` where the broker does not deliver it, or the error of `body`.
    @discardableResult
    package func read(
        needsAll: Bool = true,
        progress: (Int) -> Void = { _ in },
        _ body: (TopicRecord) throws -> Void
    ) throws -> [Int64] {
        do {
            return try CommandFault.explaining(Self.trouble, by: Self.cause) {
                let ends = try scan.ends(ofChosen: !needsAll)
                try scan.read(upTo: ends) { record in
                    count += 1
                    progress(count)
                    try body(record)
                }
                return ends.map(\.high)
            }
        } catch let fault as TopicScan.Standstill {
            throw CommandFault(
                "the ledger cannot be read to its end: no more records of partition \(fault.partition) arrived for "
                    + "\(timeBudget); a transaction may be open there, try again when it has timed out."
            )
        }
    }

    private static func cause(_ fault: KafkaFault) -> String {
        fault.message + (fault.partition.map { "; --partitions leaves partition \($0) out" } ?? "")
    }

    /// Reads everything until the partitions' ends stop moving: then no transaction is open.
    package func readSettled(
        progress: (Int) -> Void = { _ in },
        _ body: (TopicRecord) throws -> Void
    ) throws -> [Int64] {
        var ends = try read(progress: progress, body)
        while true {
            // The end of another writer's transaction has its own offset, after the ends that were asked for.
            let now = try read(progress: progress, body)
            if now == ends { return ends }
            ends = now
        }
    }

    /// Decodes the records that it reads; one that cannot be read has no change.
    ///
    /// - Parameter isSettled: whether it reads until no transaction is open.
    /// - Throws: ``LedgerFault``, too, for a record that was not replaced and cannot be read.
    @discardableResult
    func changes(
        untilSettled isSettled: Bool = false,
        progress: (Int) -> Void = { _ in },
        _ body: (LedgerChange?, TopicRecord) throws -> Void
    ) throws -> [Int64] {
        var decoder = LedgerDecoder()
        func decode(_ record: TopicRecord) throws { try body(decoder.change(of: record), record) }
        let ends =
            try isSettled
            ? readSettled(progress: progress, decode) : read(needsAll: false, progress: progress, decode)
        try decoder.finish()
        return ends
    }
}
