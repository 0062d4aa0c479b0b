/// A topic as the broker's metadata has it.
package struct TopicDescription: Sendable, Equatable {
    package var name: String
    package var partitions: Int
    /// The smallest number of replicas among its partitions.
    package var replication: Int

    package init(name: String, partitions: Int, replication: Int) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
    }
}
