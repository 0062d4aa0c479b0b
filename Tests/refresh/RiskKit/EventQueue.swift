package import AppAttest

/// Events by time; those of one time in the order in which they were added.
package struct EventQueue<Event: Sendable>: Sendable {
    private struct Entry: Sendable {
        let at: EvaluationTime
        let event: Event
    }

    /// The next one last.
    private var entries: [Entry] = []

    package init() {}

    package var next: EvaluationTime? { entries.last?.at }

    package mutating func add(_ event: Event, at time: EvaluationTime) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].at > time { low = middle + 1 } else { high = middle }
        }
        // Before those of the same time, since the last is taken first.
        entries.insert(Entry(at: time, event: event), at: low)
    }

    package mutating func take(until time: EvaluationTime) -> Event? {
        guard let last = entries.last, last.at <= time else { return nil }
        return entries.removeLast().event
    }
}
