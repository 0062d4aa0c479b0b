internal import Kafka
internal import Pipeline

/// Reads the ledger topic's partitions from where a ledger stands up to the end that they had at the start.
///
/// The end is the high watermark, records of open transactions included: stopping at the last stable offset would miss
/// the last commit of the partition's owner before us, whose marker may be on its way.
final class LedgerRestore {
    private let reader: TopicReader
    private var targets: [Int32: Int64] = [:]
    /// Where reading has come to, of the partitions that are not at their target yet.
    private var positions: [Int32: Int64] = [:]
    /// Partitions that end before what is known of them, as after an unclean election: others may have written other
    /// records at the same offsets since. They are read from the beginning.
    private(set) var truncated: Set<Int32> = []

    /// - Parameter known: offsets up to which a partition's ledger is known; others are read from the beginning.
    /// - Throws: a ``KafkaFault``, retriable where the broker is away.
    init(
        _ settings: BrokerSettings,
        partitions: [Int32],
        known: [Int32: Int64],
        lookupMilliseconds: Int
    ) throws(KafkaFault) {
        guard let topic = settings.topics.outputs[.ledger] else { throw .fatal("no topic is named for the ledger") }
        reader = try TopicReader(settings.readerProperties(), topic: topic)
        var starts: [PartitionOffset] = []
        for partition in partitions {
            let ends = try reader.watermarks(of: partition, timeoutMilliseconds: lookupMilliseconds)
            var start = max(known[partition] ?? ends.low, ends.low)
            if start > ends.high {
                truncated.insert(partition)
                start = ends.low
            }
            targets[partition] = ends.high
            guard start < ends.high else { continue }
            positions[partition] = start
            starts.append(PartitionOffset(partition: partition, offset: start))
        }
        try reader.start(starts)
    }

    var isComplete: Bool { positions.isEmpty }

    /// Offsets left to read.
    var remaining: Int64 { positions.reduce(0) { $0 + max(0, (targets[$1.key] ?? 0) - $1.value) } }

    /// The ends that were read up to.
    var ends: [Int32: Int64] { targets }

    func read(_ records: Int, timeoutMilliseconds: Int) throws(KafkaFault) -> [StoredRecord] {
        let read = try reader.poll(maxRecords: records, timeoutMilliseconds: timeoutMilliseconds)
        for partition in positions.keys.sorted() {
            guard let position = reader.position(of: partition) else { continue }
            positions[partition] = position
            if position >= targets[partition] ?? 0 { positions[partition] = nil }
        }
        return read.map { StoredRecord(partition: $0.partition, key: $0.key ?? [], value: $0.value) }
    }
}
