internal import Kafka
internal import KafkaPorts

/// Keeps the group's events while nothing can be handed out, until the next poll: news first, then records in order.
struct EventShelf {
    /// At most four arrive a second: two minutes' worth, more than a unit's default time.
    private static let mostRecords = 512

    private var faults: [KafkaFault] = []
    private var change: GroupChange?
    /// Messages and ends of partitions.
    private var records: [ConsumerEvent] = []
    private var index = 0

    var hasChange: Bool { change != nil }
    var isEmpty: Bool { records.isEmpty && faults.isEmpty && change == nil }

    /// - Returns: false where there is no room for a record.
    mutating func keep(_ event: ConsumerEvent) -> Bool {
        switch event {
        case .notice(let fault): faults.append(fault)
        case .change(let change):
            self.change = change
            // They belong to the next owner.
            dropRecords()
        case .message, .endOfPartition:
            guard change == nil else { break }
            guard records.count < Self.mostRecords else { return false }
            records.append(event)
        }
        return true
    }

    mutating func dropRecords() { (records, index) = ([], 0) }

    /// Drops the change and the records read before it.
    mutating func dropChange() {
        change = nil
        dropRecords()
    }

    /// The next fault or change.
    mutating func nextNews() -> ConsumerEvent? {
        if !faults.isEmpty { return .notice(faults.removeFirst()) }
        return change.take().map { .change($0) }
    }

    mutating func next() -> ConsumerEvent? {
        if let news = nextNews() { return news }
        guard index < records.count else { return nil }
        defer {
            index += 1
            if index == records.count { dropRecords() }
        }
        return records[index]
    }
}
