package import KafkaPorts

extension Consumer {
    /// A fault of ``topics(timeoutMilliseconds:)`` or ``committed(_:timeoutMilliseconds:)`` with its cause. Call it on
    /// the thread that polls.
    package func explained(_ fault: KafkaFault) -> KafkaFault { handle.explained(fault) }

    /// Every topic that this client may see. May be called while another thread polls.
    package func topics(timeoutMilliseconds: Int) throws(KafkaFault) -> [TopicDescription] {
        try handle.topics(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The group's committed offsets, with their metadata.
    ///
    /// May be called while another thread polls.
    ///
    /// With `isolation.level=read_committed` it waits for transactions that have offsets of these partitions pending.
    ///
    /// - Throws: a ``KafkaFault``, a retriable one where such a transaction is still open when the time is up.
    package func committed(
        _ partitions: [Int32],
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [CommittedOffset] {
        try handle.committed(topic, partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Errors that the client has reported so far, by librdkafka's names. Call it on the thread that polls.
    package var errorCounts: [String: Int] { handle.context.errorCounts }

    /// The last connection error, of a connection that may have come back since.
    package var connectionFault: KafkaFault? { handle.context.lastConnectionFault }

    /// Connections so far that were refused for what only a new client would change. Call it on the thread that polls.
    package var refusals: Int { handle.context.refusals }

    /// Whether files that the client has read were renewed since: a new one reads those.
    package var isOutdated: Bool { handle.isOutdated }

    /// The library's last statistics, JSON; empty = none came yet. Call it on the thread that polls.
    package var statistics: [UInt8] { handle.context.statistics }

    /// Asks the broker. With `isolation.level=read_committed` the high one ends before open transactions.
    package func watermarks(of partition: Int32, timeoutMilliseconds: Int) throws(KafkaFault) -> Watermarks {
        try handle.watermarks(of: topic, partition, timeoutMilliseconds: timeoutMilliseconds)
    }
}
