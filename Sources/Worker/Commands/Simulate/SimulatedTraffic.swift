internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import Dispatch
internal import Foundation
internal import JSON
internal import Kafka
internal import Pipeline
internal import Synchronization

/// Makes a simulation's records in order, on all cores, a chunk at a time.
///
/// The apps share the records out in turn: record i belongs to app i mod n, and to a fleet of that app's own.
final class SimulatedTraffic {
    /// Some milliseconds of work: large enough to share out, small enough to lie in memory.
    static let chunk = 8192
    private static let grain = 64

    private let apps: [SimulatedApp]
    private let settings: SimulationSettings
    private let topic: String
    private let partitions: Int32
    private let lanes: [SimulationLane]
    private var next = 0
    private var offsets: [Int64]

    /// - Parameters:
    ///   - apps: at least one, and no more than there are devices.
    ///   - partitions: of the topic that the records are made for.
    init(apps: [SimulatedApp], ca: LabCA, settings: SimulationSettings, topic: String, partitions: Int32) {
        precondition(!apps.isEmpty && settings.records >= settings.devices, "each device attests, for an app")
        self.apps = Array(apps.prefix(settings.devices))
        self.settings = settings
        self.topic = topic
        self.partitions = partitions
        offsets = Array(repeating: 0, count: Int(partitions))
        let fleets = Self.fleets(self.apps, ca, settings)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        lanes = (0..<max(1, cores)).map { _ in SimulationLane(fleets, settings.seed) }
    }

    /// Records made so far.
    var made: Int { next }

    /// The next records; empty at the end.
    ///
    /// - Parameters:
    ///   - limit: records at most.
    ///   - clock: the devices' clock, where it is not the plan's.
    func take(_ limit: Int = chunk, clock: EvaluationTime? = nil) -> [InboundRecord] {
        let range = next..<min(settings.records, next + limit)
        next = range.upperBound
        return make(range, clock).map(placed)
    }

    /// A fleet for each app: record i is the fleet's record i / n.
    static func fleets(
        _ apps: [SimulatedApp],
        _ ca: LabCA,
        _ settings: SimulationSettings
    ) -> [(SimulatedApp, FakeFleet)] {
        apps.enumerated().map { index, app in
            var plan = FleetPlan(
                ca: ca,
                seed: settings.seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15,
                appIDs: app.appleAppIDs,
                devices: share(settings.devices, index, apps.count),
                records: share(settings.records, index, apps.count),
                start: EvaluationTime(milliseconds: settings.start + Int64(index) * settings.interval / 1_000_000)
            )
            plan.environment = app.environment
            plan.shapes = app.shapes
            plan.category = app.category
            plan.bundleVersion = app.bundleVersion
            plan.methods = Set(settings.verbs.map(\.method))
            plan.faultShare = settings.faultShare
            plan.nanosecondsApart = settings.interval * Int64(apps.count)
            return (app, FakeFleet(plan))
        }
    }

    /// How many of `total` things fall to one of `count` that take turns.
    private static func share(_ total: Int, _ index: Int, _ count: Int) -> Int {
        total / count + (index < total % count ? 1 : 0)
    }

    /// Lanes take grains from a common cursor; results are put in order afterwards.
    private func make(_ range: Range<Int>, _ clock: EvaluationTime?) -> [InboundRecord] {
        let grains = (range.count + Self.grain - 1) / Self.grain
        let cursor = Atomic<Int>(0)
        let results = Locked<[[InboundRecord]]>(Array(repeating: [], count: grains))
        let (lanes, topic) = (lanes, topic)
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            while true {
                let grain = cursor.add(1, ordering: .relaxed).oldValue
                guard grain < grains else { return }
                let start = range.lowerBound + grain * Self.grain
                let part = start..<min(range.upperBound, start + Self.grain)
                let records = part.map { lanes[lane].record($0, topic: topic, clock: clock) }
                results.withLock { $0[grain] = records }
            }
        }
        return results.withLock { $0.flatMap { $0 } }
    }

    private func placed(_ record: InboundRecord) -> InboundRecord {
        var record = record
        record.partition = Kafka.Partitioner.murmur2.partition(of: record.key ?? [], count: partitions)
        record.offset = offsets[Int(record.partition)]
        offsets[Int(record.partition)] += 1
        return record
    }
}

/// What one lane needs to make records: its own devices.
private final class SimulationLane: @unchecked Sendable {
    // One lane is used by one thread at a time: `concurrentPerform` hands each index out once.
    private let fleets: [(app: SimulatedApp, lane: FleetLane)]
    private let seed: UInt64

    init(_ fleets: [(SimulatedApp, FakeFleet)], _ seed: UInt64) {
        self.fleets = fleets.map { ($0.0, $0.1.lane()) }
        self.seed = seed
    }

    /// The record, without its place in the topic.
    func record(_ index: Int, topic: String, clock: EvaluationTime?) -> InboundRecord {
        let (turn, which) = index.quotientAndRemainder(dividingBy: fleets.count)
        let record = fleets[which].lane.record(turn, at: clock)
        return InboundRecord(
            topic: topic,
            partition: 0,
            offset: 0,
            timestamp: record.time.milliseconds,
            key: record.keyID.recordKey,
            value: Self.request(record, app: fleets[which].app.name),
            headers: [RecordHeader("request-id", "sim-\(seed)-\(index)")]
        )
    }

    /// The request as a gateway writes it.
    private static func request(_ record: FleetRecord, app: String) -> [UInt8] {
        let isAttestation = record.method == .attestation
        let method = isAttestation ? Method.verifyAttestation : .verifyAssertion
        var writer = JSONWriter(capacity: record.object.count * 4 / 3 + 320)
        writer.beginObject()
        writer.key("path")
        writer.string("v1/\(app):\(method.rawValue)")
        writer.key("body")
        writer.beginObject()
        writer.key(isAttestation ? "attestationStatement" : "assertion")
        writer.base64(record.object)
        writer.key("keyId")
        writer.base64(record.keyID.bytes)
        writer.key("clientDataHash")
        writer.base64(record.clientDataHash)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}
