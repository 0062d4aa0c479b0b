internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Pipeline
internal import Streams

/// Records in the source's memory, as a consumer's are: each is taken out once.
private final class RigMemory: RecordMemory, @unchecked Sendable {
    // Confined to the thread that runs the loop.
    private var records: [InboundRecord?]

    private init(_ records: [InboundRecord]) { self.records = records }

    static func polled(_ records: [InboundRecord]) -> [PolledRecord] {
        let memory = RigMemory(records)
        return records.indices.map { .uncopied(UncopiedRecord(RecordStamp(records[$0]), $0, in: memory)) }
    }

    func takeRecord(_ index: Int) -> InboundRecord {
        guard let record = records[index].take() else { preconditionFailure("a record is taken once") }
        return record
    }
}

/// Assertions through the real loop on streams in memory, with an engine that answers at once.
struct StageRig {
    enum Shape: String, CaseIterable {
        /// A capture's lines in, lines out, one ledger.
        case replay
        /// Records in; records and ledger records out; a ledger for each partition.
        case run
    }

    private static let partitions: Int32 = 4
    private static let batchRecords = 1024

    private let fixtures: Fixtures
    private let records: [InboundRecord]
    private let lines: [PolledRecord]

    /// - Parameter rounds: assertions of each device.
    init(_ fixtures: Fixtures, rounds: Int) {
        self.fixtures = fixtures
        let devices = fixtures.devices.enumerated().map { index, device in
            // Half of the devices append extension entries.
            index % 2 == 0 ? device : FakeDevice(ca: device.ca, appID: device.appID, shape: .ios17_5, seed: device.seed)
        }
        var offsets = [Int64](repeating: 0, count: Int(Self.partitions))
        records = (0..<rounds * devices.count).map { number in
            let (index, counter) = (number % devices.count, number / devices.count + 1)
            let partition = Int(devices[index].keyID.digest[31]) % offsets.count
            defer { offsets[partition] += 1 }
            let place = RecordPlace(partition: Int32(partition), offset: offsets[partition])
            let hash = SHA256.hash(Array("request \(number)".utf8)).bytes
            let object = devices[index].assertion(clientDataHash: hash, counter: UInt32(counter))
            return fixtures.record(Fixtures.value(object, of: devices[index], hash), of: devices[index], number, place)
        }
        lines = Self.lines(records)
    }

    /// What each stage costs per record.
    func measure(_ shape: Shape) -> [StageCost] {
        let meter = StageMeter()
        let streams = StageStreams(shape == .replay ? lines : RigMemory.polled(records), meter)
        let scratch = LaneScratch(verifier: ObjectVerifier(anchors: fixtures.anchors), engine: AcceptingEngine())
        let time = fixtures.time
        var options = BatchLoop.Options()
        options.batch.records = Self.batchRecords
        let loop = BatchLoop(
            streams: shape == .replay
                ? StreamRoles(source: streams, packed: streams)
                : StreamRoles(source: streams, transaction: streams, hasLedgers: true),
            settings: settings(shape),
            lanes: MeasuredLanes(scratch, meter),
            options: options,
            ledgers: ledgers(shape),
            post: { $0() },
            wallClock: { shape == .run ? time : nil }
        )
        while (try? loop.tick(waitMilliseconds: 0)) != .finished {}
        meter.enter(.poll)
        precondition(loop.tally.accepted == records.count && streams.written > 0, "honest requests are accepted")
        return meter.costs.map { $0.per(streams.measured) }
    }

    private func settings(_ shape: Shape) -> PipelineSettings {
        guard let registry = try? fixtures.registry() else { preconditionFailure("one app is a registry") }
        var settings = PipelineSettings(registry: registry)
        settings.exchange.mints = shape == .run
        settings.sharesLedger = shape == .replay
        return settings
    }

    /// Every device's key is registered, as if by its attestation.
    private func ledgers(_ shape: Shape) -> [Int32: PartitionLedger] {
        var keys: [Int32: KeyLedger] = [:]
        for device in fixtures.devices {
            let partition = shape == .replay ? 0 : Int32(device.keyID.digest[31]) % Self.partitions
            keys[partition, default: KeyLedger()].set(device.keyID, fixtures.keyRecord(of: device))
        }
        return keys.mapValues { PartitionLedger(keys: $0) }
    }

    /// A capture in memory, in chunks as a reader of files gives them.
    private static func lines(_ records: [InboundRecord]) -> [PolledRecord] {
        stride(from: 0, to: records.count, by: 256).flatMap { start in
            var (chunk, ranges): ([UInt8], [Range<Int>]) = ([], [])
            for record in records[start..<min(start + 256, records.count)] {
                let begin = chunk.count
                CaptureCodec.encode(record, into: &chunk)
                ranges.append(begin..<chunk.count - 1)
            }
            return ranges.enumerated().map { index, range in
                PolledRecord.captureLine(chunk: chunk, range: range, lineNumber: start + index + 1)
            }
        }
    }
}
