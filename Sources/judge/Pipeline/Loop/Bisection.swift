internal import Streams

/// The search for a record whose output is refused: batches are halved until one record is left.
///
/// Only faults of a record start it. Timeouts, fencing, coordinators, rights and full disks never do.
struct Bisection {
    /// Records per batch now, one batch at a time; nil = no search.
    private(set) var limit: Int?
    /// Records that were found; they become dead letters from now on.
    private(set) var poison: Set<RecordPlace> = []
    /// The part of them whose whole dead letter was refused, too.
    private(set) var shortened: Set<RecordPlace> = []
    /// The positions after the last records under suspicion.
    private var suspects: [Int32: Int64] = [:]
    /// A record was found and passed: the other suspects are done in growing steps, until one fails again.
    private var grows = false
    /// More than any batch has.
    private static let largest = 1 << 20

    /// Notes that a batch's output was refused because of one of its records.
    ///
    /// - Parameter isSetting: a record alone is not to blame, but a topic's setting: it is tried until it passes.
    /// - Returns: false when nothing is left to try: the batch was a single dead letter of the shortest form already.
    mutating func failed(_ positions: [PartitionPosition], count: Int, isSetting: Bool = false) -> Bool {
        assert(count >= 0 && limit ?? 1 > 0, "a search has batches with a record")
        for position in positions {
            suspects[position.partition] = max(suspects[position.partition] ?? 0, position.offset)
        }
        grows = false
        guard count <= 1 else {
            limit = count / 2
            return true
        }
        limit = 1
        guard !isSetting, let position = positions.first else { return isSetting }
        let place = RecordPlace(partition: position.partition, offset: position.offset - 1)
        return poison.insert(place).inserted || shortened.insert(place).inserted
    }

    /// Notes a committed batch: records before its positions are innocent, or dealt with.
    mutating func committed(_ positions: [PartitionPosition]) {
        guard let now = limit else { return }
        let known = poison.count
        for position in positions {
            if let suspect = suspects[position.partition], suspect <= position.offset {
                suspects[position.partition] = nil
            }
            poison = poison.filter { $0.partition != position.partition || $0.offset >= position.offset }
        }
        shortened.formIntersection(poison)
        grows = grows || poison.count < known
        if grows { limit = min(now * 2, Self.largest) }
        if suspects.isEmpty { limit = nil }
        assert((limit == nil) == suspects.isEmpty && limit ?? 1 > 0, "a search has suspects, and batches with a record")
    }

    /// Forgets partitions that were given away: the search there is left to their next owner.
    mutating func forget(_ partitions: [Int32]) {
        for partition in partitions { suspects[partition] = nil }
        poison = poison.filter { !partitions.contains($0.partition) }
        shortened.formIntersection(poison)
        if suspects.isEmpty { limit = nil }
    }
}
