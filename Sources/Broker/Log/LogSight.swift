internal import Kafka
package import KafkaPorts

/// A log on Kafka as others see it, at one moment: what this process knows without asking the broker.
package struct LogSight: Sendable {
    /// The committed offsets, by partition; nothing of those that never had one.
    package var committed: [Int32: Int64] = [:]
    /// Up to where nothing is left to answer, by partition: the committed offset, or behind the markers that follow it.
    package var positions: [Int32: Int64] = [:]
    /// Offsets of the ledger topic that a restore has left to read, by partition.
    package var restoring: [Int32: Int64] = [:]
    /// Partitions that were started and of which nothing has come yet: the connection to their leader may be missing.
    package var unread: [Int32] = []
    /// Errors that the consumer has reported so far, by librdkafka's names.
    package var errors: [String: Int] = [:]
    /// The consumer's last connection error; the connection may be back.
    package var connectionFault: KafkaFault?
    /// Connections of the consumer so far that were refused for what only a new client would change.
    package var refusals = 0
    /// librdkafka's statistics of the consumer, JSON; empty = none came yet.
    package var statistics: [UInt8] = []

    package init() {}
}

extension KafkaRecordLog {
    /// On the loop's thread.
    package func sight() -> LogSight {
        var sight = LogSight()
        sight.committed = partitions.committed
        sight.positions = partitions.positions
        sight.restoring = restore?.remaining ?? [:]
        sight.unread = partitions.unread.filter { [.starting, .started].contains(decisions[$0]) }
        sight.errors = pastErrors.merging(consumer.errorCounts, uniquingKeysWith: +)
        sight.connectionFault = consumer.connectionFault
        sight.refusals = consumer.refusals
        sight.statistics = consumer.statistics
        return sight
    }
}
