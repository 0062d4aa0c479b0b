internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Streams
internal import Threads

/// The state with which one lane makes records: its own devices.
final class SimulationLane: @unchecked Sendable {
    // One thread at a time: `concurrentPerform` hands each index out once.
    private var owner = Owner("SimulationLane")
    private let plans: [(plan: SimulationPlan, lane: FleetLane)]
    private let seals: ExchangeSeals?
    private let seed: UInt64
    private let batch: LabBatch
    /// The grains that were made and not collected yet.
    private var grains: [Grain] = []
    private var devices: [RosterEntry] = []

    /// Records in a row.
    struct Grain {
        let start: Int
        let records: [InboundRecord]
    }

    /// A block of a plan's roster.
    struct RosterPlace: Comparable {
        let plan: Int
        let block: Int

        static func < (one: Self, other: Self) -> Bool { (one.plan, one.block) < (other.plan, other.block) }
    }

    struct RosterEntry {
        let place: RosterPlace
        let block: DeviceRoster.Block
    }

    init(_ plans: [SimulationPlan], _ seals: ExchangeSeals?, _ seed: UInt64) {
        let batch = LabBatch()
        self.plans = plans.map { ($0, $0.fleet.lane(batch)) }
        (self.seals, self.seed, self.batch) = (seals, seed, batch)
    }

    /// The devices of each plan that all lanes share.
    var rosters: [DeviceRoster] = [] {
        didSet { for (plan, roster) in zip(plans, rosters) { plan.lane.roster = roster } }
    }

    func makeDevices(_ place: RosterPlace) {
        owner.check()
        defer { owner.release() }
        let block = plans[place.plan].plan.fleet.block(place.block, batch)
        devices.append(RosterEntry(place: place, block: block))
    }

    func takeDevices() -> [RosterEntry] {
        defer { devices = [] }
        return devices
    }

    func make(_ range: Range<Int>, clock: EvaluationTime?) {
        owner.check()
        defer { owner.release() }
        // The apps take turns: each n-th record is of the same one.
        let turns = min(plans.count, range.count)
        let parts = (0..<turns).map { turn in
            make(Array(stride(from: range.lowerBound + turn, to: range.upperBound, by: plans.count)), clock: clock)
        }
        let records = turns == 1 ? parts[0] : (0..<range.count).map { parts[$0 % turns][$0 / turns] }
        grains.append(Grain(start: range.lowerBound, records: records))
    }

    func takeGrains() -> [Grain] {
        defer { grains = [] }
        return grains
    }

    /// The records of one app, without their places in the topic; their signatures are made together.
    private func make(_ indices: [Int], clock: EvaluationTime?) -> [InboundRecord] {
        guard let first = indices.first else { return [] }
        let which = first % plans.count
        let (plan, lane) = plans[which]
        let turns = indices.map { $0 / plans.count }
        let headers = indices.map { [RecordHeader("request-id", "sim-\(seed)-\($0)")] }
        guard !plan.isPlain, let seals else {
            return zip(headers, lane.records(turns, at: clock)).map { headers, made in
                Self.record(made, app: plan.app.name, headers)
            }
        }
        let steps = turns.map { plan.step($0, at: clock) }
        let devices = lane.devices(steps.map(\.step.device))
        let drafts = zip(steps, devices).map {
            ExchangeRecord(plan: plan, seals: seals, simulated: $0, device: $1).draft()
        }
        let objects = lane.finish(drafts.map(\.object))
        return indices.indices.map { index in
            var record = InboundRecord.unplaced(headers: headers[index])
            let step = steps[index]
            record.timestamp = step.step.time.milliseconds
            (record.key, record.value) = drafts[index].request(objects[index])
            if !step.verb.isVerifiers {
                record.headers.append(RecordHeader("installation-id", "sim-\(seed)-\(which)-\(step.step.device)"))
            }
            return record
        }
    }

    private static func record(_ made: FleetRecord, app: String, _ headers: [RecordHeader]) -> InboundRecord {
        var record = InboundRecord.unplaced(headers: headers)
        record.timestamp = made.time.milliseconds
        (record.key, record.value) = (made.keyID.recordKey, request(made, app: app))
        return record
    }

    private static func request(_ record: FleetRecord, app: String) -> [UInt8] {
        let isAttestation = record.kind == .attestation
        let verb = isAttestation ? Verb.verifyAttestation : .verifyAssertion
        return DemoTraffic.request(
            path: "v1/\(app):\(verb.rawValue)",
            body: [
                (isAttestation ? "attestationStatement" : "assertion", record.object), ("keyId", record.keyID.bytes),
                ("clientDataHash", record.clientDataHash),
            ]
        )
    }
}
