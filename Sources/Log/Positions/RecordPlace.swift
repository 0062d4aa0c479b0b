/// A record's partition and offset.
package struct RecordPlace: Hashable, Sendable {
    package let partition: Int32
    package let offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    package init(_ record: InboundRecord) { self.init(partition: record.partition, offset: record.offset) }
}
