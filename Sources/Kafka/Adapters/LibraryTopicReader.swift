package import KafkaPorts

/// A topic's reader on librdkafka.
package final class LibraryTopicReader: TopicReading {
    /// Traps on any queue but the one that calls belong on.
    private let checkQueue: () -> Void
    /// nil once it was given up.
    private var reader: TopicReader?

    /// - Parameter checkQueue: traps on any queue but the one that calls belong on.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(
        _ properties: KafkaProperties,
        topic: String,
        checkQueue: @escaping () -> Void = {}
    ) throws(KafkaFault) {
        self.checkQueue = checkQueue
        reader = try TopicReader(properties, topic: topic)
    }

    private var current: TopicReader? {
        checkQueue()
        return reader
    }

    package func start(_ starts: [PartitionOffset]) throws(KafkaFault) { try current?.start(starts) }

    package func stop(_ partitions: [Int32]) throws(KafkaFault) { try current?.stop(partitions) }

    package func poll(most records: Int, waiting milliseconds: Int) throws(KafkaFault) -> LedgerChunk {
        try current?.pollPacked(maxRecords: records, timeoutMilliseconds: milliseconds) ?? LedgerChunk()
    }

    package func position(of partition: Int32) -> Int64? { current?.position(of: partition) }

    package func discard() { reader = nil }
}
