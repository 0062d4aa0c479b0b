package import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
package import Pipeline
package import Streams

/// How a capture is cut, which must never change an answer.
package struct CaptureLayout: Sendable, CustomStringConvertible {
    /// Records per batch; nil = all in one.
    package let batch: Int?
    package let lanes: Int
    package var description: String { "batches of \(batch.map(String.init) ?? "all"), \(lanes) lanes" }

    package init(batch: Int?, lanes: Int) { (self.batch, self.lanes) = (batch, lanes) }

    package static let all: [CaptureLayout] = [1, 2, 3, 7, nil].flatMap { batch in
        [1, 2, 4].map { CaptureLayout(batch: batch, lanes: $0) }
    }
}

/// A capture's outputs under one layout.
package struct CaptureRun: Equatable {
    /// Results, tokens, events and dead letters, each stream in its order.
    package let outputs: [OutputTopic: [OutboundRecord]]
    package let keys: [Int32: [KeyID: KeyRecord]]
    /// All other last records of the ledger topic that have not expired.
    package let state: [String]

    /// - Parameters:
    ///   - records: in place of the capture's own.
    ///   - observer: sees each record as it is admitted.
    package init(
        _ capture: RandomCapture,
        _ layout: CaptureLayout,
        seed: UInt64 = 1,
        records: [InboundRecord]? = nil,
        observer: Observer? = nil
    ) throws {
        let streams = CutStreams(records ?? capture.records, ledger: capture.ledger, batch: layout.batch)
        let anchors = try RandomCapture.ca.anchors()
        let lanes = GrainLanes(
            (0..<layout.lanes).map { _ in
                LaneScratch(
                    verifier: ObjectVerifier(anchors: anchors, limits: capture.settings.objectLimits),
                    engine: OracleEngine()
                )
            },
            seed: seed
        )
        let now = capture.now
        var options = BatchLoop.Options()
        options.batch.records = Int.max
        options.observer = observer
        let loop = BatchLoop(
            streams: StreamRoles(source: streams, transaction: streams, hasLedgers: true),
            settings: capture.settings,
            lanes: lanes,
            options: options,
            post: { $0() },
            wallClock: { now }
        )
        guard try lanes.run(loop) else { throw LoopRun.Unfinished() }
        outputs = Dictionary(grouping: streams.outputs.filter { $0.stream != .ledger }, by: \.stream)
        var (keys, state): ([Int32: [KeyID: KeyRecord]], [String]) = ([:], [])
        for (partition, ledger) in loop.ledgers {
            ledger.keys.forEach { keys[partition, default: [:]][$0] = $1 }
            state += try Self.state(of: partition, streams, at: ledger.streamTime)
        }
        (self.keys, self.state) = (keys, state.sorted())
    }

    /// A restore's state besides the keys. When an expired id is removed depends on the batches.
    private static func state(of partition: Int32, _ streams: CutStreams, at time: EvaluationTime) throws -> [String] {
        var lines: [String] = ["\(partition) \(time.milliseconds)"]
        for record in streams.compacted where record.partition == partition {
            switch try LedgerCodec.decode(key: record.key, value: record.value) {
            case .challenge(let id, let used) where used.expiresAt > time:
                lines.append("\(partition) \(id.bytes) \(used)")
            case .token(let id, let used) where used.expiresAt > time: lines.append("\(partition) \(id.bytes) \(used)")
            case .rate(let app, let rate): lines.append("\(partition) \(app) \(rate)")
            case .ban(let id, let ban) where ban.counts(at: time): lines.append("\(partition) \(id.bytes) \(ban)")
            case .sealingKey(let id, let since): lines.append("\(partition) \(id) \(since)")
            default: break
            }
        }
        return lines
    }

    /// The first difference, in words; nil = none.
    package func difference(from other: CaptureRun) -> String? {
        for stream in OutputTopic.allCases {
            let (own, others) = (outputs[stream] ?? [], other.outputs[stream] ?? [])
            for (mine, theirs) in zip(own, others) where mine != theirs {
                return "\(stream) \(mine.partition)/\(mine.sourceOffset):\n\(Self.text(theirs))\n\(Self.text(mine))"
            }
            if own.count != others.count { return "\(stream): \(own.count) records, not \(others.count)" }
        }
        if keys != other.keys { return "keys differ" }
        return state == other.state ? nil : "state: \(Set(state).symmetricDifference(other.state).sorted())"
    }

    private static func text(_ record: OutboundRecord) -> String {
        String(decoding: record.value ?? [], as: UTF8.self)
    }
}

/// A capture as streams: batches of one size, and a ledger topic.
private final class CutStreams: RequestSource, RecordTransaction {
    private let memory = MemoryMember()
    private let records: [InboundRecord]
    private let batch: Int
    private var read = 0
    private var isAssigned = false
    private var stored: [StoredRecord]
    private var restoring: [StoredRecord] = []
    private(set) var outputs: [OutboundRecord] = []

    init(_ records: [InboundRecord], ledger: [StoredRecord], batch: Int?) {
        (self.records, stored, self.batch) = (records, ledger, batch ?? max(1, records.count))
        memory.restoring = { [unowned self] _, _ in restoring = stored }
        memory.reading = { [unowned self] _ in memory.next(.max, of: &restoring) }
    }

    /// The last value of each key of the ledger topic.
    var compacted: [StoredRecord] {
        var last: [[UInt8]: StoredRecord] = [:]
        for record in stored { last[[UInt8(record.partition)] + record.key] = record }
        return last.values.filter { $0.value != nil }
    }

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        var round = PollRound()
        guard isAssigned else {
            isAssigned = true
            round.events = [memory.event(.assigned(Array(0..<RandomCapture.partitions)))]
            return round
        }
        let end = min(read + batch, records.count)
        round.records = records[read..<end].map { .record($0) }
        read = end
        round.ended = end == records.count
        return round
    }

    func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) {
        outputs += records.joined()
        for record in records.joined() where record.stream == .ledger {
            stored.append(StoredRecord(partition: record.partition, key: record.key ?? [], value: record.value))
        }
    }

    func abort() -> Bool { preconditionFailure("nothing fails here") }

    var member: (any GroupMember)? { memory }
    let isAtomic = true
    let timeShare = 0.0
}

/// Several lanes on one thread: small grains, each on a lane and in an order that the seed chooses.
private final class GrainLanes: LaneRunner, @unchecked Sendable {
    let isEngineStopped = false
    // Confined to the test's thread.
    private var random: SeededRandom
    private let scratches: [LaneScratch]
    private var jobs: [() -> Void] = []

    init(_ scratches: [LaneScratch], seed: UInt64) {
        self.scratches = scratches
        random = SeededRandom(seed: seed)
    }

    func run<Output: Sendable>(
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        completion: @escaping @Sendable ([Output]) -> Void
    ) {
        jobs.append { [self] in
            let size = scratches.count == 1 ? grain : 1 + Int.random(in: 0..<6, using: &random)
            let starts = Array(stride(from: 0, to: count, by: size))
            var outputs: [Int: [Output]] = [:]
            for start in starts.shuffled(using: &random) {
                let scratch = scratches[Int.random(in: 0..<scratches.count, using: &random)]
                outputs[start] = body(start..<min(start + size, count), scratch)
            }
            completion(starts.flatMap { outputs[$0] ?? [] })
        }
    }

    func run(_ loop: BatchLoop) throws -> Bool {
        for _ in 0..<100_000 {
            if !jobs.isEmpty, Bool.random(using: &random) { finishOne() }
            switch try loop.tick(waitMilliseconds: 0) {
            case .worked, .backOff: continue
            case .waiting: finishOne()
            case .finished: return true
            }
        }
        return false
    }

    private func finishOne() {
        if !jobs.isEmpty { jobs.remove(at: Int.random(in: 0..<jobs.count, using: &random))() }
    }
}
