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
        let source = Self.source(records ?? capture.records, ledger: capture.ledger, batch: layout.batch)
        let transaction = MemoryTransaction()
        let anchors = try RandomCapture.ca.anchors()
        let lanes = SimulatedLanes(
            shuffling: (0..<layout.lanes).map { _ in
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
        let loop = lanes.loop(
            StreamRoles(source: source, transaction: transaction, hasLedgers: true),
            capture.settings,
            options,
            wallClock: { now }
        )
        guard try lanes.run(loop) else { throw LoopRun.Unfinished() }
        outputs = Dictionary(grouping: transaction.outputs.filter { $0.stream != .ledger }, by: \.stream)
        let written = transaction.outputs.filter { $0.stream == .ledger }.map {
            StoredRecord(partition: $0.partition, key: $0.key ?? [], value: $0.value)
        }
        let compacted = (capture.ledger + written).compacted
        var (keys, state): ([Int32: [KeyID: KeyRecord]], [String]) = ([:], [])
        for (partition, ledger) in loop.ledgers {
            ledger.keys.forEach { keys[partition, default: [:]][$0] = $1 }
            state += try Self.state(of: partition, compacted, at: ledger.streamTime)
        }
        (self.keys, self.state) = (keys, state.sorted())
    }

    /// A capture as a source: batches of one size, and a ledger topic.
    private static func source(_ records: [InboundRecord], ledger: [StoredRecord], batch: Int?) -> PolledSource {
        let (memory, batch) = (MemoryMember(), batch ?? max(1, records.count))
        var restoring: [StoredRecord] = []
        memory.restoring = { _, _ in restoring = ledger }
        memory.reading = { [unowned memory] _ in memory.next(.max, of: &restoring) }
        return PolledSource(memory) { round, number, _ in
            if number == 0 {
                round.events = [memory.event(.assigned(Array(0..<RandomCapture.partitions)))]
                return
            }
            let rest = records.dropFirst((number - 1) * batch)
            round.records = rest.prefix(batch).map { .record($0) }
            round.ended = rest.count <= batch
        }
    }

    /// A restore's state besides the keys. When an expired id is removed depends on the batches.
    private static func state(
        of partition: Int32,
        _ topic: [StoredRecord],
        at time: EvaluationTime
    ) throws -> [String] {
        var lines: [String] = ["\(partition) \(time.milliseconds)"]
        for record in topic where record.partition == partition {
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
                return "\(stream) \(mine.partition)/\(mine.sourceOffset):\n\(theirs.text)\n\(mine.text)"
            }
            if own.count != others.count { return "\(stream): \(own.count) records, not \(others.count)" }
        }
        if keys != other.keys { return "keys differ" }
        return state == other.state ? nil : "state: \(Set(state).symmetricDifference(other.state).sorted())"
    }
}
