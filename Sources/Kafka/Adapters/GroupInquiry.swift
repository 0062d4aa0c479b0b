package import KafkaPorts

/// What a group's consumer can be asked beside the thread that polls it, on any thread.
///
/// It keeps no client alive but for the time of a question, which goes on where the consumer is closed meanwhile.
package final class GroupInquiry: @unchecked Sendable {
    private weak var consumer: Consumer?

    init(_ consumer: Consumer) { self.consumer = consumer }

    /// Every topic that the consumer may see.
    package func topics(timeoutMilliseconds: Int) throws(KafkaFault) -> [TopicDescription] {
        try open().topics(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// See ``Consumer/committed(_:timeoutMilliseconds:)``.
    package func committed(_ partitions: [Int32], timeoutMilliseconds: Int) throws(KafkaFault) -> [CommittedOffset] {
        try open().committed(partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    private func open() throws(KafkaFault) -> Consumer {
        guard let consumer else { throw KafkaFault(.state, "the consumer is gone") }
        return consumer
    }
}
