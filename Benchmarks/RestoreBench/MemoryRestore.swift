internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Dispatch
internal import Foundation
internal import Pipeline
internal import Streams
internal import Threads

/// A restore whose records lie in memory already.
struct MemoryRestore {
    private static let rounds = 5
    private let keys: Int
    private let lanes: Int
    private let partitions: Int32
    private let chunks: [StoredRecords]

    init(keys: Int, partitions: Int32, lanes: Int) {
        (self.keys, self.lanes, self.partitions) = (keys, lanes, partitions)
        // As brokers answer: runs of one partition.
        let run = 2_700
        chunks = stride(from: 0, to: keys, by: run).map { start in
            StoredRecords(
                (start..<min(start + run, keys)).map { number in
                    let partition = Int32(start / run) % partitions
                    let (key, value) = LedgerCodec.encode(SampleKeys.change(number))
                    return StoredRecord(partition: partition, key: key, value: value)
                }
            )
        }
    }

    /// Prints wall and processor time a key; the first round includes the memory's first touch.
    func run() throws {
        for round in 0..<Self.rounds {
            let before = (Measure.wall, Measure.processor)
            let keys = try restore()
            let (wall, processor) = (Measure.wall - before.0, Measure.processor - before.1)
            let perKey = (wall / Double(keys) * 1e9, processor / Double(keys) * 1e9)
            print(
                "round \(round): \(keys) keys, \(Int(Double(keys) / wall)) keys/s, \(Int(perKey.0)) ns wall, "
                    + "\(Int(perKey.1)) ns processor a key, resident \(Measure.resident / keys) B a key"
            )
        }
    }

    private func restore() throws -> Int {
        let streams = ChunkStreams(chunks, partitions: partitions)
        let queue = DispatchQueue(owner: "loop")
        let wake = DispatchSemaphore(value: 0)
        let scratches = try (0..<lanes).map { _ in
            LaneScratch(
                verifier: ObjectVerifier(anchors: try TrustAnchors(attestationPEM: [], receiptPEM: [])),
                engine: OpenSSLEngine()
            )
        }
        let loop = BatchLoop(
            streams: StreamRoles(source: streams, transaction: streams, hasLedgers: true),
            settings: PipelineSettings(registry: try Registry(apps: []), partitionOfKey: { _ in 0 }),
            lanes: DispatchLanes(scratches: scratches),
            post: { block in
                queue.async {
                    block()
                    wake.signal()
                }
            },
            wallClock: { nil }
        )
        while try !queue.sync(execute: { try loop.tick(waitMilliseconds: 0) == .finished }) {
            if queue.sync(execute: { !loop.isIdle }) { _ = wake.wait(timeout: .now() + .milliseconds(2)) }
        }
        return loop.ledgers.values.reduce(0) { $0 + $1.keys.count }
    }
}

/// Gives its chunks as a restore, then ends.
private final class ChunkStreams: RequestSource, RecordTransaction, GroupMember {
    private let chunks: [StoredRecords]
    private let partitions: Int32
    private var next = 0
    private(set) var assigned: [Int32]?
    private var started = 0

    init(_ chunks: [StoredRecords], partitions: Int32) { (self.chunks, self.partitions) = (chunks, partitions) }

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
        var round = PollRound()
        if let assigned {
            round.ended = started == assigned.count
        } else {
            round.events = [.assigned(Array(0..<partitions), of: Generation(1), isNew: true)]
        }
        return round
    }

    func restore(kept: Set<Int32>, of announcement: Generation) {
        (next, assigned) = (0, Array(0..<partitions))
    }

    func readLedgers(_ records: Int, waitMilliseconds: Int) -> [PartitionEvent] {
        var events: [PartitionEvent] = []
        if next < chunks.count {
            events.append(.ledger(chunks[next], left: 0))
            next += 1
        }
        if next == chunks.count { events += (0..<partitions).map { .ledgerGiven($0) } }
        return events
    }

    var member: (any GroupMember)? { self }
    let group: [UInt8]? = nil
    func serve() -> [PartitionEvent] { [] }
    func ledgerIsWhole(
        _ partition: Int32,
        mark: PositionMark?,
        isEmpty: Bool,
        of announcement: Generation
    ) -> PartitionEvent? {
        started += 1
        return .started(partition, PartitionStart.Report())
    }
    func ledgerIsUnusable(_ partition: Int32, _ sentence: String, of announcement: Generation) -> PartitionEvent? {
        preconditionFailure("all records can be read")
    }
    let holds: [Int32: String] = [:]
    func isFirstOffsetDue(_ partition: Int32) -> Bool { false }
    func release() {}
    func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) {}
    func abort() -> Bool { true }
    let isAtomic = true
    let timeShare = 0.0
}
