internal import Log

extension PartitionPosition {
    /// The next offset of each partition among `records`, sorted by partition.
    static func after(_ records: [DecodedRecord]) -> [PartitionPosition] {
        var (places, next) = (PartitionPlaces(), [(partition: Int32, offset: Int64)]())
        for record in records {
            // A capture may contain the largest offset of all, which has no next one.
            let (after, isBeyond) = record.record.offset.addingReportingOverflow(1)
            let offset = isBeyond ? Int64.max : after
            if let place = places[record.record.partition] {
                next[place].offset = max(next[place].offset, offset)
            } else {
                places.add(record.record.partition, place: next.count)
                next.append((record.record.partition, max(0, offset)))
            }
        }
        return next.sorted { $0.partition < $1.partition }
            .map { PartitionPosition(partition: $0.partition, offset: $0.offset) }
    }
}
