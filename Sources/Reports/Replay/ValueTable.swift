internal import AppAttest

/// Counts by a text that senders choose: the frequent ones each by itself, the rest together.
///
/// When the table is full, the rarest half of its values goes into the rest: whatever a sender makes up, what many
/// records have stays. At most ``capacity`` values are counted at a time.
struct ValueTable {
    typealias ID = UInt16
    /// Records that do not have it.
    static let unknown: ID = 0
    static let other: ID = 1

    struct Value {
        let text: ExactText
        /// Records by outcome; empty once it belongs to the rest.
        fileprivate(set) var counts: [Int]
    }

    private let capacity: Int
    private let outcomes: Int
    private var ids: [ExactText: ID] = [:]
    private(set) var values: [Value]

    init(outcomes: Int, capacity: Int = 1024) {
        (self.outcomes, self.capacity) = (outcomes, capacity)
        let none = Value(text: "", counts: [Int](repeating: 0, count: outcomes))
        values = [none, none]
    }

    mutating func id(of text: ExactText?) -> ID {
        guard let text else { return Self.unknown }
        if let known = ids[text] { return known }
        if ids.count >= capacity { thinOut() }
        // Numbers are never given twice: devices keep them.
        guard values.count < Int(ID.max) else { return Self.other }
        let id = ID(values.count)
        values.append(Value(text: text, counts: [Int](repeating: 0, count: outcomes)))
        ids[text] = id
        return id
    }

    mutating func count(_ id: ID, _ outcome: OutcomeList.Index) {
        values[Int(present(id))].counts[Int(outcome)] += 1
    }

    /// The rest, for a value that belongs to it by now.
    func present(_ id: ID) -> ID { values[Int(id)].counts.isEmpty ? Self.other : id }

    private mutating func thinOut() {
        let sizes = ids.values.map { (id: Int($0), count: values[Int($0)].counts.reduce(0, +)) }
        let rare = sizes.sorted { ($0.count, -$0.id) < ($1.count, -$1.id) }.prefix(max(1, capacity / 2))
        for (id, _) in rare {
            for outcome in 0..<outcomes { values[Int(Self.other)].counts[outcome] += values[id].counts[outcome] }
            values[id].counts = []
            ids[values[id].text] = nil
        }
    }

    /// Values with a record, those most often not accepted first, then the most frequent.
    ///
    /// - Parameter most: the others are added to the rest.
    /// - Returns: nil as text for records without a value.
    func rows(most: Int) -> (rows: [(text: ExactText?, counts: [Int])], rest: [Int], restValues: Int) {
        func total(_ counts: [Int]) -> Int { counts.reduce(0, +) }
        func refused(_ counts: [Int]) -> Int { total(counts) - counts[0] }
        var rest = values[Int(Self.other)].counts
        let open = values.indices.filter { $0 != Int(Self.other) && total(values[$0].counts) > 0 }
        let order = open.sorted { left, right in
            let (one, two) = (values[left].counts, values[right].counts)
            return (refused(one), total(one), -left) > (refused(two), total(two), -right)
        }
        for index in order.dropFirst(most) {
            for outcome in 0..<outcomes { rest[outcome] += values[index].counts[outcome] }
        }
        let rows = order.prefix(most).map { index in
            (index == Int(Self.unknown) ? nil : values[index].text, values[index].counts)
        }
        return (rows, rest, values.count - 2 - rows.count { $0.0 != nil })
    }
}
