package import KafkaPorts

/// Follows partitions of a topic from their present ends, committed records only. A reader that takes the place of another
/// one, after a fault or because certificates were renewed, goes on where that one was.
package final class TopicFeed {
    private static let mostRecords = 1_000
    private static let askMilliseconds = 5_000
    private static let connectMilliseconds = 2_000

    private let partitions: [Int32]
    private let make: () throws(KafkaFault) -> any RecordReading
    private var reader: (any RecordReading)?
    /// The next record of each partition; those without one are read from their ends.
    package private(set) var positions: [Int32: Int64] = [:]
    /// Where a partition was when it gave a damaged record.
    private var damages: [Int32: Int64] = [:]
    /// Whether a first fetch of each partition has come back once.
    package private(set) var hasHeardAll = false

    package init(of partitions: [Int32], _ make: @escaping () throws(KafkaFault) -> any RecordReading) {
        (self.partitions, self.make) = (partitions, make)
    }

    /// Learns where the partitions end, and reads from there on: what is written after this call comes.
    package func open() throws(KafkaFault) {
        let next = try make()
        do throws(KafkaFault) {
            for partition in partitions where positions[partition] == nil {
                positions[partition] = try next.watermarks(of: partition, timeoutMilliseconds: Self.askMilliseconds)
                    .high
            }
            next.connect(to: partitions, timeoutMilliseconds: Self.connectMilliseconds)
            try next.start(positions.map { PartitionOffset(partition: $0.key, offset: $0.value) })
        } catch {
            next.discard()
            throw error
        }
        reader?.discard()
        reader = next
    }

    /// The records that are ready, in each partition's order; waits at most so many milliseconds for the first one.
    ///
    /// - Throws: a fault, after which the next call goes on; it belongs after a pause.
    package func poll(waiting milliseconds: Int) throws(KafkaFault) -> [TopicRecord] {
        guard let current = reader, !current.isOutdated else {
            try open()
            return []
        }
        do throws(KafkaFault) {
            let records = try current.records(most: Self.mostRecords, waiting: milliseconds)
            hasHeardAll = hasHeardAll || current.hasHeardAll
            for record in records { positions[record.partition] = record.offset + 1 }
            return records
        } catch {
            let position = error.partition.flatMap { positions[$0] }
            if error.isOffsetGone || error.isDamage && isKnown(error.partition, position) {
                for partition in error.partition.map({ [$0] }) ?? partitions { positions[partition] = nil }
            }
            current.discard()
            reader = nil
            throw error
        }
    }

    /// Whether a partition gives a damaged record for the second time: it is damaged on the disk, and comes again and again.
    /// Nobody waits for long for an answer, so the partition is read from its end on, as where retention has deleted one.
    private func isKnown(_ partition: Int32?, _ position: Int64?) -> Bool {
        guard let partition, let position else { return false }
        return damages.updateValue(position, forKey: partition) == position
    }
}
