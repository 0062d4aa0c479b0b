internal import Kafka
internal import Traffic

extension RequestTopic {
    /// A topic whose producers choose partitions as Java clients do.
    init(murmur2 name: String, partitions: Int32) {
        self.init(name: name, partitions: partitions) { Partitioner.murmur2.partition(of: $0, count: partitions) }
    }
}
