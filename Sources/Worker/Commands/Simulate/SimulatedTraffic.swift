internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import Dispatch
internal import Foundation
internal import JSON
internal import Kafka
internal import Log
internal import Pipeline
internal import Synchronization

/// Makes a simulation's records in order, on all cores, a chunk at a time.
///
/// The apps take turns: record i belongs to app i mod n, and to that app's own fleet.
final class SimulatedTraffic {
    /// Some milliseconds of work: large enough to distribute, small enough for memory.
    static let chunk = 8192
    private static let grain = 64

    private let apps: [SimulatedApp]
    private let settings: SimulationSettings
    private let topic: String
    private let partitions: Int32
    private let lanes: [SimulationLane]
    private var next = 0
    private var offsets: [Int64]
    /// The partition of the next record without a key: round robin, as a gateway does it.
    private var keyless: Int32 = 0

    /// - Parameters:
    ///   - apps: at least one, and no more than there are devices.
    ///   - partitions: of the topic for which the records are made.
    ///   - seals: needed for the exchange's verbs.
    init(
        apps: [SimulatedApp],
        ca: LabCA,
        settings: SimulationSettings,
        seals: ExchangeSeals?,
        topic: String,
        partitions: Int32
    ) {
        precondition(!apps.isEmpty && settings.records >= settings.devices, "each device attests, for an app")
        self.apps = Array(apps.prefix(settings.devices))
        self.settings = settings
        self.topic = topic
        self.partitions = partitions
        offsets = Array(repeating: 0, count: Int(partitions))
        let plans = Self.plans(self.apps, ca, settings)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        lanes = (0..<max(1, cores)).map { _ in SimulationLane(plans, seals, settings.seed) }
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

    /// A plan for each app: record i is the plan's record i / n.
    static func plans(_ apps: [SimulatedApp], _ ca: LabCA, _ settings: SimulationSettings) -> [SimulationPlan] {
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
            if case .bytes(let bytes) = app.registered.clientDataHash { plan.clientDataHashBytes = bytes }
            plan.methods = Set(settings.verbs.map { $0.isAttestation ? .attestation : .assertion })
            plan.faultShare = settings.faultShare
            plan.nanosecondsApart = settings.interval * Int64(apps.count)
            return SimulationPlan(
                app: app,
                fleet: FakeFleet(plan),
                verbs: settings.verbs,
                challengeLife: settings.challengeLife
            )
        }
    }

    /// How many of `total` things one of `count` gets when they take turns.
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
        if let key = record.key {
            record.partition = Kafka.Partitioner.murmur2.partition(of: key, count: partitions)
        } else {
            record.partition = keyless % partitions
            keyless = (keyless + 1) % partitions
        }
        record.offset = offsets[Int(record.partition)]
        offsets[Int(record.partition)] += 1
        return record
    }
}

/// What one lane needs to make records: its own devices.
private final class SimulationLane: @unchecked Sendable {
    // One lane is used by one thread at a time: `concurrentPerform` hands each index out once.
    private let plans: [(plan: SimulationPlan, lane: FleetLane)]
    private let seals: ExchangeSeals?
    private let seed: UInt64

    init(_ plans: [SimulationPlan], _ seals: ExchangeSeals?, _ seed: UInt64) {
        self.plans = plans.map { ($0, $0.fleet.lane()) }
        (self.seals, self.seed) = (seals, seed)
    }

    /// The record, without its place in the topic.
    func record(_ index: Int, topic: String, clock: EvaluationTime?) -> InboundRecord {
        let (turn, which) = index.quotientAndRemainder(dividingBy: plans.count)
        let (plan, lane) = plans[which]
        var record = InboundRecord(
            topic: topic,
            partition: 0,
            offset: 0,
            timestamp: 0,
            key: nil,
            value: nil,
            headers: [RecordHeader("request-id", "sim-\(seed)-\(index)")]
        )
        guard !plan.isPlain, let seals else {
            let plain = lane.record(turn, at: clock)
            record.timestamp = plain.time.milliseconds
            (record.key, record.value) = (plain.keyID.recordKey, Self.request(plain, app: plan.app.name))
            return record
        }
        let simulated = plan.step(turn, at: clock)
        let device = lane.device(simulated.step.device)
        record.timestamp = simulated.step.time.milliseconds
        let made = ExchangeRecord(plan: plan, seals: seals, simulated: simulated, device: device)
        (record.key, record.value) = made.request()
        if simulated.verb.isClientExchange {
            record.headers.append(RecordHeader("installation-id", "sim-\(seed)-\(which)-\(simulated.step.device)"))
        }
        return record
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

extension Method {
    var isAttestation: Bool { self == .verifyAttestation || self == .exchangeAppAttestAttestation }

    /// Whether an app's SDK calls it, so that a gateway knows the installation.
    var isClientExchange: Bool {
        switch self {
        case .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion: true
        case .verifyAppCheckToken, .verifyAttestation, .verifyAssertion: false
        }
    }
}
