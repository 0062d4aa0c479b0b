internal import KafkaPorts
internal import Streams

/// The assigned partitions, by number: nothing that a member does depends on an order that differs between processes.
struct PartitionTable {
    private(set) var all: [Partition] = []
    /// The start reports of partitions that now belong to another member, and after which nothing was committed.
    private var reported: [Int32: PartitionStart.Report] = [:]

    var isEmpty: Bool { all.isEmpty }
    var numbers: [Int32] { all.map(\.number) }

    mutating func replace(_ numbers: [Int32]) {
        for partition in all { reported[partition.number] = partition.reported.start }
        all = Set(numbers).sorted().map { Partition($0, start: reported.removeValue(forKey: $0)) }
    }

    subscript(_ number: Int32) -> Partition? { place(of: number).map { all[$0] } }

    /// Changes a partition; nothing where it is not assigned.
    @discardableResult
    mutating func with<Result>(_ number: Int32, _ change: (inout Partition) -> Result) -> Result? {
        guard let place = place(of: number) else { return nil }
        return change(&all[place])
    }

    private func place(of number: Int32) -> Int? {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < all.count && all[low].number == number ? low : nil
    }

    mutating func take(_ event: Partition.Event, _ number: Int32) { with(number) { $0.take(event) } }

    mutating func takeAll(_ event: Partition.Event) { for place in all.indices { all[place].take(event) } }

    mutating func forEach(_ change: (inout Partition) -> Void) { for place in all.indices { change(&all[place]) } }

    func those(_ isWanted: (Partition.State) -> Bool) -> [Partition] { all.filter { isWanted($0.state) } }

    /// The places where reading goes on: after the last record handed out, at the committed offset, or with the oldest
    /// record.
    var starts: [PartitionOffset] { all.map(\.start) }

    /// The committed offsets, by partition; nothing of those that never had one.
    var committed: [Int32: Int64] { byNumber(\.committed) }

    /// The offset of each partition before which nothing is left to answer.
    var positions: [Int32: Int64] { byNumber(\.position) }

    /// Partitions that were started and of which nothing has come yet.
    var unread: [Int32] {
        all.filter {
            switch $0.state {
            case .starting, .reading: !$0.isRead
            default: false
            }
        }
        .map(\.number)
    }

    /// Why partitions are not read, as the loop has heard.
    var holds: [Int32: String] { byNumber(\.reported.hold) }

    private func byNumber<Value>(_ value: (Partition) -> Value?) -> [Int32: Value] {
        all.reduce(into: [:]) { $0[$1.number] = value($1) }
    }

    /// Checks positions before they are committed.
    ///
    /// - Throws: a ``KafkaFault`` that asks for an abort where they do not belong to this assignment.
    func check(_ positions: [PartitionPosition]) throws(KafkaFault) {
        for position in positions {
            guard let partition = self[position.partition] else {
                throw .stale("partition \(position.partition) is no longer assigned, so its offset is not committed")
            }
            try partition.check(position.offset)
        }
    }

    mutating func noteCommitted(_ positions: [PartitionPosition]) {
        for position in positions { with(position.partition) { $0.noteCommitted(position.offset) } }
    }
}
