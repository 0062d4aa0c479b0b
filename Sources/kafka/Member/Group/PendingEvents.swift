internal import KafkaPorts
internal import Streams

/// Keeps the records that come while none can be handed out, in their order: at most four a second, when only the group
/// is served.
struct PendingEvents {
    enum Event {
        case record(UncopiedRecord, bytes: Int)
        case end(PartitionOffset)

        var partition: Int32 {
            switch self {
            case .record(let record, _): record.stamp.place.partition
            case .end(let end): end.partition
            }
        }
    }

    private let most: Int
    private var events: [Event] = []
    private var index = 0

    init(most: Int) { self.most = most }

    var count: Int { events.count - index }

    /// - Returns: false where there is no room.
    mutating func keep(_ event: Event) -> Bool {
        guard events.count < most else { return false }
        events.append(event)
        assert(events.count <= most && index < events.count, "what is kept is bounded, and comes out again")
        return true
    }

    mutating func next() -> Event? {
        assert(index <= events.count)
        guard index < events.count else { return nil }
        defer {
            index += 1
            if index == events.count { drop() }
        }
        return events[index]
    }

    mutating func drop() { (events, index) = ([], 0) }

    /// Drops what has come of some partitions.
    mutating func drop(_ partitions: Set<Int32>) {
        (events, index) = (events[index...].filter { !partitions.contains($0.partition) }, 0)
    }
}
