/// A group's committed offset of a partition.
package struct CommittedOffset: Sendable, Equatable {
    package var partition: Int32
    /// The next offset to read; nil = nothing is committed.
    package var offset: Int64?
    /// The metadata committed with it.
    package var metadata: [UInt8]

    package init(partition: Int32, offset: Int64?, metadata: [UInt8] = []) {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}
