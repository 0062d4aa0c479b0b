internal import Kafka
internal import Log

/// Gathers the records of one round within its limits.
struct RoundCollector {
    private(set) var round = PollRound()
    private let limits: BatchLimits
    private var bytes = 0
    private var deadline: ContinuousClock.Instant
    /// No record came in the time last given.
    private(set) var isDrained = false
    /// The last one added: only the next one tells how large its headers are, so that the round's last are not counted.
    private var last: ConsumedMessage?

    init(limits: BatchLimits, waitMilliseconds: Int, _ generation: Generation) {
        self.limits = limits
        round.generation = generation
        deadline = .now + .milliseconds(waitMilliseconds)
    }

    /// How long to wait for the next record, in milliseconds; nil when the round is over.
    ///
    /// Records that are already here are taken first, without reading the clock for each.
    func nextTimeout() -> Int? {
        guard round.records.count < max(1, limits.records), bytes < max(1, limits.bytes) else { return nil }
        guard isDrained else { return 0 }
        let left = deadline - .now
        guard left > .zero else { return nil }
        return max(1, Int(left / .milliseconds(1)))
    }

    mutating func noteEmpty() {
        isDrained = true
    }

    mutating func add(_ message: ConsumedMessage) {
        add(.uncopied(UncopiedRecord(message)), bytes: message.byteCount + (last.map(message.headerBytes) ?? 0))
        last = message
    }

    /// - Parameter bytes: what it holds in memory, near enough for a limit.
    mutating func add(_ record: consuming PolledRecord, bytes: Int) {
        if round.records.isEmpty { deadline = min(deadline, .now + .milliseconds(limits.milliseconds)) }
        self.bytes += bytes
        round.records.append(record)
        isDrained = false
    }
}
