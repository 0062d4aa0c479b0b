internal import AppAttest
internal import Crypto
internal import Pipeline
internal import Streams

/// Gives its records once, in batches, and takes what becomes of them; tells the meter what the loop begins.
///
/// The first batch only warms up: what it costs is forgotten.
final class StageStreams: RequestSource, RecordTransaction, PackedTransaction {
    private let meter: StageMeter?
    private let records: [PolledRecord]
    private var next = 0
    private var polls = 0
    private(set) var written = 0
    /// Records after the first batch.
    private(set) var measured = 0

    init(_ records: [PolledRecord], _ meter: StageMeter? = nil) {
        (self.records, self.meter) = (records, meter)
    }

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        meter?.enter(.poll)
        polls += 1
        if polls == 2 { meter?.restart() }
        var round = PollRound()
        let end = min(next + limits.records, records.count)
        round.records = Array(records[next..<end])
        if polls > 1 { measured += end - next }
        next = end
        round.ended = next == records.count
        return round
    }

    var packer: @Sendable (consuming [OutboundRecord]) -> [PackedOutput] {
        { (records: consuming [OutboundRecord]) in
            CaptureCodec.encode(consume records, topics: [.results: "appattest.results"])
        }
    }

    func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) {
        written += records.reduce(0) { $0 + $1.count }
    }
    func write(_ outputs: [[PackedOutput]], _ positions: [PartitionPosition], of generation: Generation) {
        written += outputs.reduce(0) { $0 + $1.count }
    }
    func abort() -> Bool { preconditionFailure("nothing fails here") }
    let member: (any GroupMember)? = nil
    let isAtomic = true
    let timeShare = 0.0
}

/// Lanes on the loop's thread that tell the meter what they begin: Decode, Verify and Encode in turn.
final class MeasuredLanes: LaneRunner, @unchecked Sendable {
    private static let stages: [(lanes: MeasuredStage, loop: MeasuredStage)] = [
        (.decode, .resolve), (.verify, .admit), (.encode, .commit),
    ]

    // Confined to the thread that runs the loop.
    private let meter: StageMeter
    private let lanes: InlineLanes
    var isEngineStopped: Bool { lanes.isEngineStopped }
    private var runs = 0

    init(_ scratch: LaneScratch, _ meter: StageMeter) {
        (lanes, self.meter) = (InlineLanes(scratch: scratch), meter)
    }

    func run<Output: Sendable>(
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        completion: @escaping @Sendable ([Output]) -> Void
    ) {
        let (own, next) = Self.stages[runs % Self.stages.count]
        runs += 1
        precondition((own == .verify) == (priority == .normal), "a batch goes through the stages in their order")
        meter.enter(own)
        lanes.run(count: count, grain: grain, priority: priority, body) { outputs in
            self.meter.enter(next)
            completion(outputs)
        }
    }
}

/// Accepts every signature without looking at it: what is left is all but cryptography. Not for verdicts.
final class AcceptingEngine: SignatureEngine {
    func verify(_ checks: [SignatureCheck]) -> [Bool] { [Bool](repeating: true, count: checks.count) }
}
