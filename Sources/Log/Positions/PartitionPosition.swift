/// A partition and the next offset to read of it.
package struct PartitionPosition: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}
