/// The place of each partition's part in an array: a table for usual numbers, a dictionary for the others.
struct PartitionPlaces: Sendable {
    private static let tableCount: Int32 = 1024

    /// Place + 1; 0 = none.
    private var table: [UInt32] = []
    private var others: [Int32: Int] = [:]

    @inline(__always)
    subscript(partition: Int32) -> Int? {
        guard partition >= 0, partition < Self.tableCount else { return others[partition] }
        guard partition < table.count, table[Int(partition)] != 0 else { return nil }
        return Int(table[Int(partition)]) - 1
    }

    mutating func add(_ partition: Int32, place: Int) {
        guard partition >= 0, partition < Self.tableCount else { return others[partition] = place }
        let missing = Int(partition) + 1 - table.count
        if missing > 0 { table.append(contentsOf: repeatElement(0, count: missing)) }
        table[Int(partition)] = UInt32(place + 1)
    }
}
