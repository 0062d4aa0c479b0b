package import KafkaPorts

/// The outcome of one call of ``Consumer/poll(timeoutMilliseconds:)``.
package enum ConsumerEvent: Sendable {
    case message(ConsumedMessage)
    case change(GroupChange)
    /// Only with `enable.partition.eof=true`; the offset is the partition's end.
    case endOfPartition(PartitionOffset)
    /// A fault that the library recovers from by itself, or that concerns one partition.
    case notice(KafkaFault)
}
