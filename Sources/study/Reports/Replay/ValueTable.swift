/// The records that have one value.
struct ValueTally {
    typealias ID = UInt16
    /// Records that do not have it.
    static let unknown: ID = 0
    static let other: ID = 1

    /// Records by outcome; empty once the value belongs to the rest.
    fileprivate(set) var counts: [Int]
    /// Records among them that name no device; empty where all do.
    fileprivate(set) var loose: [Int] = []

    fileprivate mutating func add(_ outcome: OutcomeList.Index, isLoose: Bool) {
        counts[Int(outcome)] += 1
        guard isLoose else { return }
        if loose.isEmpty { loose = [Int](repeating: 0, count: counts.count) }
        loose[Int(outcome)] += 1
    }

    fileprivate mutating func add(_ other: ValueTally) {
        for index in other.counts.indices { counts[index] += other.counts[index] }
        if loose.isEmpty { return loose = other.loose }
        for index in other.loose.indices { loose[index] += other.loose[index] }
    }
}

extension [ValueTally] {
    /// The rest, for a value that belongs to it by now.
    func present(_ id: ValueTally.ID) -> ValueTally.ID { self[Int(id)].counts.isEmpty ? ValueTally.other : id }
}

/// Counts by a value that senders choose: the frequent ones each by itself, the rest together.
///
/// When the table is full, the rarest half of its values goes into the rest: whatever a sender makes up, what many
/// records have stays. At most ``capacity`` values are counted at a time.
struct ValueTable<Key: Hashable> {
    private let capacity: Int
    private let outcomes: Int
    private var ids: [Key: ValueTally.ID] = [:]
    /// The values; nil for the rest and what belongs to it.
    private(set) var keys: [Key?] = [nil, nil]
    private(set) var tallies: [ValueTally]

    init(outcomes: Int, capacity: Int = 1024) {
        (self.outcomes, self.capacity) = (outcomes, capacity)
        tallies = [ValueTally](repeating: Self.none(outcomes), count: 2)
    }

    private static func none(_ outcomes: Int) -> ValueTally {
        ValueTally(counts: [Int](repeating: 0, count: outcomes))
    }

    mutating func id(of key: Key?) -> ValueTally.ID {
        guard let key else { return ValueTally.unknown }
        if let known = ids[key] { return known }
        if ids.count >= capacity { thinOut() }
        // Numbers are never given twice: devices keep them.
        guard tallies.count < Int(ValueTally.ID.max) else { return ValueTally.other }
        let id = ValueTally.ID(tallies.count)
        tallies.append(Self.none(outcomes))
        keys.append(key)
        ids[key] = id
        return id
    }

    mutating func count(_ id: ValueTally.ID, _ outcome: OutcomeList.Index, isLoose: Bool = false) {
        tallies[Int(tallies.present(id))].add(outcome, isLoose: isLoose)
    }

    private mutating func thinOut() {
        let sizes = ids.values.map { (id: Int($0), count: tallies[Int($0)].counts.reduce(0, +)) }
        let rare = sizes.sorted { ($0.count, -$0.id) < ($1.count, -$1.id) }.prefix(max(1, capacity / 2))
        for (id, _) in rare {
            tallies[Int(ValueTally.other)].add(tallies[id])
            tallies[id] = ValueTally(counts: [])
            if let key = keys[id] { ids[key] = nil }
            keys[id] = nil
        }
    }

    /// Values with a record, those most often not accepted first, then the most frequent.
    ///
    /// - Parameter most: the others are added to the rest.
    /// - Returns: nil as key for records without a value.
    func rows(most: Int) -> (rows: [(key: Key?, counts: [Int])], rest: [Int], restValues: Int) {
        func total(_ counts: [Int]) -> Int { counts.reduce(0, +) }
        func refused(_ counts: [Int]) -> Int { total(counts) - counts[0] }
        var rest = tallies[Int(ValueTally.other)].counts
        let open = tallies.indices.filter { $0 != Int(ValueTally.other) && total(tallies[$0].counts) > 0 }
        let order = open.sorted { left, right in
            let (one, two) = (tallies[left].counts, tallies[right].counts)
            return (refused(one), total(one), -left) > (refused(two), total(two), -right)
        }
        for index in order.dropFirst(most) {
            for outcome in 0..<outcomes { rest[outcome] += tallies[index].counts[outcome] }
        }
        let rows = order.prefix(most).map { (keys[$0], tallies[$0].counts) }
        return (rows, rest, tallies.count - 2 - rows.count { $0.0 != nil })
    }
}
