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

    init(_ plans: [SimulationPlan], _ seals: ExchangeSeals?, _ seed: UInt64) {
        let batch = LabBatch()
        self.plans = plans.map { ($0, $0.fleet.lane(batch)) }
        (self.seals, self.seed, self.batch) = (seals, seed, batch)
    }

    /// The devices of each plan that all lanes share.
    var rosters: [DeviceRoster] = [] {
        didSet { for (plan, roster) in zip(plans, rosters) { plan.lane.roster = roster } }
    }

    func devices(_ block: Int, of plan: Int) -> [DeviceKey] {
        owner.check()
        defer { owner.release() }
        return plans[plan].plan.fleet.block(block, batch)
    }

    func make(_ range: Range<Int>, clock: EvaluationTime?) -> [InboundRecord] {
        owner.check()
        defer { owner.release() }
        // The apps take turns: each n-th record is of the same one.
        let turns = min(plans.count, range.count)
        let parts = (0..<turns).map { turn in
            make(Array(stride(from: range.lowerBound + turn, to: range.upperBound, by: plans.count)), clock: clock)
        }
        return turns == 1 ? parts[0] : (0..<range.count).map { parts[$0 % turns][$0 / turns] }
    }

    /// The records of one app, without their places in the topic; their signatures are made together.
    private func make(_ indices: [Int], clock: EvaluationTime?) -> [InboundRecord] {
        guard let first = indices.first else { return [] }
        let which = first % plans.count
        let (plan, lane) = plans[which]
        let turns = indices.map { $0 / plans.count }
        let ids = indices.map { "sim-\(seed)-\($0)" }
        guard !plan.isPlain, let seals else {
            return zip(ids, lane.records(turns, at: clock)).map { $1.request(app: plan.app.name, id: $0) }
        }
        let steps = turns.map { plan.step($0, at: clock) }
        let devices = lane.devices(steps.map(\.step.device))
        let drafts = zip(steps, devices).map {
            ExchangeRecord(plan: plan, seals: seals, simulated: $0, device: $1).draft()
        }
        let objects = lane.finish(drafts.map(\.object))
        return indices.indices.map { index in
            var record = InboundRecord.unplaced(headers: [RecordHeader("request-id", ids[index])])
            let step = steps[index]
            record.timestamp = step.step.time.milliseconds
            (record.key, record.value) = drafts[index].request(objects[index])
            if !step.verb.isVerifiers {
                record.headers.append(RecordHeader("installation-id", "sim-\(seed)-\(which)-\(step.step.device)"))
            }
            return record
        }
    }
}
