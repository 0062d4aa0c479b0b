internal import Log

extension PartitionPosition {
    /// The next offset of each partition among `records`, sorted by partition.
    static func after(_ records: [DecodedRecord]) -> [PartitionPosition] {
        var next: [Int32: Int64] = [:]
        for record in records {
            // A capture may contain the largest offset of all, which has no next one.
            let (after, isBeyond) = record.record.offset.addingReportingOverflow(1)
            next[record.record.partition, default: 0].raise(to: isBeyond ? .max : after)
        }
        return next.sorted { $0.key < $1.key }.map { PartitionPosition(partition: $0.key, offset: $0.value) }
    }
}

extension Int64 {
    fileprivate mutating func raise(to value: Int64) { self = Swift.max(self, value) }
}
