package import Kafka
package import Settings

/// The topics around a gateway, as they are when it starts.
package struct GatewayTopics: Sendable {
    package var names: TopicNames
    /// The number of partitions of the requests, and so of results, tokens and events.
    package var partitions: Int32
    /// nil = records go where murmur2 puts their key, and no worker compares.
    package var partitioner: Partitioner?
    /// The partition of the replies topic that this gateway reads; nil = it reads results and tokens.
    package var replyTo: Int32?

    package init(
        names: TopicNames,
        partitions: Int32,
        partitioner: Partitioner?,
        replyTo: Int32? = nil
    ) {
        (self.names, self.partitions, self.partitioner) = (names, partitions, partitioner)
        self.replyTo = replyTo
    }

    func partition(of key: [UInt8]) -> Int32 { (partitioner ?? .murmur2).partition(of: key, count: partitions) }
}
