internal import Pipeline
internal import Streams

/// Looks for a thread that works at the same records for too long.
///
/// A stopped process or a sleeping machine makes no work look old: the time between two polls counts as a second at
/// most.
struct LaneWatch {
    static let limit = Duration.seconds(60)
    private static let mostBetweenPolls = Duration.seconds(1)

    private struct Observed {
        var number: Int64
        var age: Duration
    }

    private let slots: [WorkSlot]
    private let limit: Duration
    private var observed: [Observed?]
    private var polled: ContinuousClock.Instant

    init(_ slots: [WorkSlot], limit: Duration = Self.limit, at now: ContinuousClock.Instant = .now) {
        self.slots = slots
        self.limit = limit
        observed = slots.map { _ in nil }
        polled = now
    }

    /// The work at which a thread hangs; nil = none does. Called a few times a second.
    mutating func poll(at now: ContinuousClock.Instant = .now) -> HungWork? {
        let passed = min(now - polled, Self.mostBetweenPolls)
        polled = now
        for (index, slot) in slots.enumerated() {
            guard let work = slot.snapshot() else {
                observed[index] = nil
                continue
            }
            guard var seen = observed[index], seen.number == work.number else {
                observed[index] = Observed(number: work.number, age: .zero)
                continue
            }
            seen.age += passed
            observed[index] = seen
            if seen.age >= limit { return HungWork(work: work, limit: limit) }
        }
        return nil
    }
}

/// Work that does not end.
struct HungWork {
    private static let mostNamed = 8

    let work: Work
    let limit: Duration

    /// One line that names the records.
    func sentence(topic: String) -> String {
        let names = work.items.prefix(Self.mostNamed).map { "\(topic)/\($0.place.partition)/\($0.place.offset)" }
        let more = work.items.count - names.count
        let records = names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        let seconds = limit.components.seconds
        return "a lane hangs: \(work.stage) has not finished for \(seconds) s, with the requests at \(records); "
            + "the process exits and commits none of them"
    }
}
