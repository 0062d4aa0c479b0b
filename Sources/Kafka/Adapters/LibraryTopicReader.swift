package import Dispatch
package import KafkaPorts

/// A topic's reader on librdkafka.
package final class LibraryTopicReader: TopicReading {
    private let queue: DispatchQueue?
    /// nil once it was given up.
    private var reader: TopicReader?

    /// - Parameter queue: the one that calls come on; nil = not checked.
    /// - Throws: a ``KafkaFault`` that names the fault. Nothing is connected yet.
    package init(_ properties: KafkaProperties, topic: String, on queue: DispatchQueue? = nil) throws(KafkaFault) {
        self.queue = queue
        reader = try TopicReader(properties, topic: topic)
    }

    private var current: TopicReader? {
        if let queue { dispatchPrecondition(condition: .onQueue(queue)) }
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
