/// The partitions that may become this member's if one machine is gone.
///
/// The range assignor sorts the members by their ids, those of static members by their instance names, and cuts the
/// partitions into equal blocks. So a member's own block tells how many members there may be and which of them it is, and
/// both tell its block among fewer.
enum StandbyPlacement {
    /// - Parameters:
    ///   - own: the member's partitions; nothing is followed where they are not one block.
    ///   - partitions: how many there are.
    ///   - loops: how many members each machine has, whose names follow each other.
    /// - Returns: partitions of others, in their order.
    static func partitions(besides own: [Int32], of partitions: Int32, loops: Int) -> [Int32] {
        let (count, loops) = (Int(partitions), max(1, loops))
        guard let first = own.min(), let last = own.max(), Int(last - first) + 1 == own.count else { return [] }
        let block = Int(first)..<Int(last) + 1
        var found: Set<Int> = []
        // Members beyond the number of partitions have none.
        for members in stride(from: 2 * loops, through: count + 2 * loops, by: loops) {
            let (size, rest) = count.quotientAndRemainder(dividingBy: members)
            guard (size...size + 1).contains(block.count) else { continue }
            // Longer blocks come first.
            let places = [block.lowerBound / (size + 1), size == 0 ? 0 : (block.lowerBound - rest) / size]
            for place in Set(places) where self.block(place, of: members, count) == block {
                for heir in [place, place - loops] where (0..<members - loops).contains(heir) {
                    found.formUnion(self.block(heir, of: members - loops, count))
                }
            }
        }
        return found.filter { !block.contains($0) }.sorted().map(Int32.init)
    }

    private static func block(_ place: Int, of members: Int, _ partitions: Int) -> Range<Int> {
        let (size, rest) = partitions.quotientAndRemainder(dividingBy: members)
        let start = place * size + min(place, rest)
        return start..<start + size + (place < rest ? 1 : 0)
    }
}
