/// Where a record lies.
package struct RecordPlace: Hashable, Sendable {
    package let partition: Int32
    package let offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    init(_ record: InboundRecord) { self.init(partition: record.partition, offset: record.offset) }
}

/// The search for a record whose outputs the log will not take: batches are halved until one record is left.
///
/// Only faults that a record causes start it. Timeouts, fencing, coordinators, rights and full disks never do.
struct Bisection {
    /// Records of a batch now, one batch at a time; nil = nothing is searched for.
    private(set) var limit: Int?
    /// Found, and dead letters from now on.
    private(set) var poison: Set<RecordPlace> = []
    /// The positions after the last records under suspicion.
    private var suspects: [Int32: Int64] = [:]
    /// A record was found and left: the others under suspicion are done in ever larger steps, until one fails again.
    private var grows = false
    /// More than any batch has.
    private static let largest = 1 << 20

    /// A batch's unit was refused for one of its records.
    ///
    /// - Returns: false when there is nothing left to try: the batch was a single dead letter already.
    mutating func failed(_ positions: [PartitionPosition], count: Int) -> Bool {
        for position in positions {
            suspects[position.partition] = max(suspects[position.partition] ?? 0, position.offset)
        }
        grows = false
        guard count <= 1 else {
            limit = count / 2
            return true
        }
        limit = 1
        guard let position = positions.first else { return false }
        return poison.insert(RecordPlace(partition: position.partition, offset: position.offset - 1)).inserted
    }

    /// A batch was committed: what lies before its positions is innocent, or dealt with.
    mutating func committed(_ positions: [PartitionPosition]) {
        guard let now = limit else { return }
        let known = poison.count
        for position in positions {
            if let suspect = suspects[position.partition], suspect <= position.offset {
                suspects[position.partition] = nil
            }
            poison = poison.filter { $0.partition != position.partition || $0.offset >= position.offset }
        }
        grows = grows || poison.count < known
        if grows { limit = min(now * 2, Self.largest) }
        if suspects.isEmpty { limit = nil }
    }

    /// Partitions were given away: what was searched for there is another worker's business.
    mutating func forget(_ partitions: [Int32]) {
        for partition in partitions { suspects[partition] = nil }
        poison = poison.filter { !partitions.contains($0.partition) }
        if suspects.isEmpty { limit = nil }
    }
}
