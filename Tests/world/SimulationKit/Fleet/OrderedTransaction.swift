internal import Streams

/// A transaction that gets the records of a ledger in one order, so that a seed replays exactly.
final class OrderedTransaction: RecordTransaction {
    private let transaction: any RecordTransaction

    init(_ transaction: any RecordTransaction) { self.transaction = transaction }

    var isAtomic: Bool { transaction.isAtomic }
    var timeShare: Double { transaction.timeShare }
    var appendTime: Int64? { transaction.appendTime }
    var hasOutcome: Bool { transaction.hasOutcome }

    func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) throws {
        try transaction.write([Array(records.joined()).inOrder], positions, of: generation)
    }

    func takeOutcome() throws { try transaction.takeOutcome() }
    func abort() throws -> Bool { try transaction.abort() }
}

extension [OutboundRecord] {
    /// Overlays have no order of their own. What the loop writes before a partition's mark (04) stays before it, and what it
    /// writes after the mark stays after it; tombstones too.
    var inOrder: [OutboundRecord] {
        let isMark = { (record: OutboundRecord) in record.key == [4] }
        let ledger = Dictionary(grouping: filter { $0.stream == .ledger }, by: \.partition)
        var ordered = filter { $0.stream != .ledger }
        for (_, changes) in ledger.sorted(by: { $0.key < $1.key }) {
            var rest = changes[...]
            while let mark = rest.firstIndex(where: isMark) {
                ordered += rest[..<mark].inOrderOfKeys + [rest[mark]]
                rest = rest[(mark + 1)...]
            }
            ordered += rest.inOrderOfKeys
        }
        return ordered
    }
}

extension ArraySlice<OutboundRecord> {
    /// Records of one key stay in their order.
    fileprivate var inOrderOfKeys: [OutboundRecord] {
        let sorted = enumerated().sorted { one, other in
            let (key, otherKey) = (one.element.key ?? [], other.element.key ?? [])
            return key == otherKey ? one.offset < other.offset : key.lexicographicallyPrecedes(otherKey)
        }
        return sorted.map(\.element)
    }
}
