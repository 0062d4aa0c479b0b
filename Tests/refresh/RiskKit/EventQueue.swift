package import AppAttest

/// Events by time; those of one time in the order in which they were added.
package struct EventQueue<Event> {
    private struct Entry {
        let at: EvaluationTime
        let event: Event
    }

    /// The next one last.
    private var entries: [Entry] = []

    package init() {}

    package var next: EvaluationTime? { entries.last?.at }

    package mutating func add(_ event: Event, at time: EvaluationTime) {
        // Before those of the same time, since the last is taken first.
        let place = entries.firstIndex { $0.at <= time } ?? entries.count
        entries.insert(Entry(at: time, event: event), at: place)
    }

    package mutating func take(until time: EvaluationTime) -> Event? {
        guard let last = entries.last, last.at <= time else { return nil }
        return entries.removeLast().event
    }
}
