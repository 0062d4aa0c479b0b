package import Kafka
package import KafkaPorts
package import Pipeline
internal import Settings
internal import Streams

/// The newest mark of each partition of a ledger, read from its end.
package enum LedgerMarks {
    /// Nearly always the last record is a mark. Where it is not (right after `import-keys`), more is read.
    private static let firstWindow: Int64 = 256
    private static let timeBudget = Duration.seconds(2)
    private static let answerMilliseconds = 2_000
    static let key = LedgerCodec.encode(.markForgotten).key

    /// Marks of open transactions count: a worker that has just left may have committed one that is not visible yet. So do
    /// those of transactions that were aborted: their worker placed keys by that number.
    ///
    /// - Throws: a ``KafkaFault``; one that may pass where not every partition could be read in time.
    package static func newest(
        _ properties: KafkaProperties,
        topic: String,
        partitions: Int32
    ) throws(KafkaFault) -> [Int32: PartitionMark] {
        let all = Array(0..<partitions)
        let found = try PartitionEnds(properties).watermarks(of: topic, all, timeoutMilliseconds: answerMilliseconds)
        let ends = (0..<partitions).map { found[$0] ?? Watermarks(low: 0, high: 0) }
        var open = Set(found.keys.filter { ends[Int($0)].low < ends[Int($0)].high })
        var (marks, window) = ([Int32: PartitionMark](), firstWindow)
        while !open.isEmpty {
            let starts = Dictionary(uniqueKeysWithValues: open.map { ($0, start(ends[Int($0)], window)) })
            let scan = try TopicScan(
                TopicReader(properties, topic: topic, takesUncommitted: true),
                partitions: partitions,
                only: open,
                from: starts,
                timeBudget: timeBudget
            )
            do {
                try scan.read(upTo: ends) { if $0.key == key { marks[$0.partition] = mark($0) } }
            } catch let fault as KafkaFault { throw fault } catch {
                throw .timedOut("\(topic) cannot be read to its end: nothing came for \(timeBudget)")
            }
            open = open.filter { marks[$0] == nil && starts[$0] ?? 0 > ends[Int($0)].low }
            window *= 64
        }
        return marks
    }

    private static func start(_ ends: Watermarks, _ window: Int64) -> Int64 { max(ends.low, ends.high - window) }

    /// An unreadable mark counts as none.
    static func mark(_ record: TopicRecord) -> PartitionMark? {
        let change = try? LedgerCodec.decode(key: record.key ?? [], value: record.value)
        guard case .mark(let mark)? = change else { return nil }
        return mark
    }
}

extension Collection<PartitionMark> {
    /// A number of partitions that one of them names and the topics do not have; nil = none does.
    package func otherPartitions(than partitions: Int32) -> Int32? {
        lazy.compactMap(\.position.partitions).filter { $0 != partitions }.min()
    }
}
