/// A partition and the next offset to read of it.
package struct PartitionOffset: Sendable, Equatable {
    /// Stands for "the oldest record there is".
    package static let beginning: Int64 = -2
    /// Stands for "the next record that is written".
    package static let end: Int64 = -1

    package var partition: Int32
    package var offset: Int64
    /// Text that a commit keeps with the offset, at most 4,096 bytes by the broker's default; empty = none.
    package var metadata: [UInt8]

    package init(partition: Int32, offset: Int64, metadata: [UInt8] = []) {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}
