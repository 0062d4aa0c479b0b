internal import CRdkafka
package import KafkaPorts

/// Asks for the first and last offsets of partitions, open transactions included, with a separate client that has
/// `isolation.level=read_uncommitted`: any other client gets an end before the open transactions.
package final class PartitionEnds {
    private let handle: ClientHandle

    /// - Parameter properties: librdkafka's settings; those of producers, and the group, are left out.
    package init(_ properties: KafkaProperties) throws(KafkaFault) {
        let forced = [("isolation.level", "read_uncommitted"), ("enable.auto.commit", "false")]
        let complete = properties.withoutGroup().completed(
            defaults: [("socket.nagle.disable", "true"), ("log_level", "0")],
            forced: forced
        )
        handle = try ClientHandle(.consumer, complete, context: CallbackContext())
    }

    /// Whether files that the client has read were renewed since: a new one reads those.
    package var isOutdated: Bool { handle.isOutdated }

    /// The oldest offset, and the next record's.
    package func watermarks(
        of topic: String,
        _ partition: Int32,
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> Watermarks {
        try handle.watermarks(of: topic, partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The oldest offset, and the next record's, of several partitions at once.
    package func watermarks(
        of topic: String,
        _ partitions: [Int32],
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [Int32: Watermarks] {
        try handle.watermarks(of: topic, partitions, timeoutMilliseconds: timeoutMilliseconds)
    }
}

extension KafkaProperties {
    /// The settings for a client that belongs to no group.
    func withoutGroup() -> KafkaProperties {
        var properties = self
        for name in ["group.id", "group.instance.id"] { properties[name] = nil }
        return properties
    }
}
