package import KafkaPorts

/// A topic's reader on librdkafka.
package final class LibraryTopicReader: TopicReading {
    /// nil once it was given up.
    private var reader: TopicReader?

    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(_ properties: KafkaProperties, topic: String) throws(KafkaFault) {
        reader = try TopicReader(properties, topic: topic)
    }

    package func start(_ starts: [PartitionOffset]) throws(KafkaFault) { try reader?.start(starts) }

    package func stop(_ partitions: [Int32]) throws(KafkaFault) { try reader?.stop(partitions) }

    package func poll(most records: Int, waiting milliseconds: Int) throws(KafkaFault) -> LedgerChunk {
        try reader?.pollPacked(maxRecords: records, timeoutMilliseconds: milliseconds) ?? LedgerChunk()
    }

    package func position(of partition: Int32) -> Int64? { reader?.position(of: partition) }

    package func isAtEnd(of partition: Int32) -> Bool { reader?.isAtEnd(of: partition) ?? false }

    package func discard() { reader = nil }
}
