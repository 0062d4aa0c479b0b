internal import Kafka
internal import Log

/// Gathers the records of one round within its limits.
struct RoundCollector {
    private(set) var round = PollRound()
    private let limits: BatchLimits
    private var bytes = 0
    private var deadline: ContinuousClock.Instant
    private var isDrained = false

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

    /// No record came in the time given.
    mutating func noteEmpty() {
        isDrained = true
    }

    mutating func add(_ record: InboundRecord) {
        if round.records.isEmpty { deadline = min(deadline, .now + .milliseconds(limits.milliseconds)) }
        bytes += record.byteCount
        round.records.append(.record(record))
        isDrained = false
    }
}

extension InboundRecord {
    init(_ record: KafkaRecord, topic: String) {
        self.init(
            topic: topic,
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key,
            value: record.value,
            headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
        hasReadableHeaders = record.headersReadable
        hasLogAppendTime = record.timestampType == .logAppend
    }

    /// Bytes that it holds in memory, near enough for a limit.
    fileprivate var byteCount: Int {
        let headerBytes = headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
        return (key?.count ?? 0) + (value?.count ?? 0) + headerBytes
    }
}
