internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import JSON
internal import Log

/// What one lane needs to make records: its own devices.
final class SimulationLane: @unchecked Sendable {
    // One lane is used by one thread at a time: `concurrentPerform` hands each index out once.
    private let plans: [(plan: SimulationPlan, lane: FleetLane)]
    private let seals: ExchangeSeals?
    private let seed: UInt64
    /// What was made and not collected yet.
    private var grains: [Grain] = []

    /// Records in a row.
    struct Grain {
        let start: Int
        let records: [InboundRecord]
    }

    init(_ plans: [SimulationPlan], _ seals: ExchangeSeals?, _ seed: UInt64) {
        self.plans = plans.map { ($0, $0.fleet.lane()) }
        (self.seals, self.seed) = (seals, seed)
    }

    func make(_ range: Range<Int>, clock: EvaluationTime?) {
        let records = range.map { record($0, clock: clock) }
        grains.append(Grain(start: range.lowerBound, records: records))
    }

    func takeGrains() -> [Grain] {
        defer { grains = [] }
        return grains
    }

    /// The record, without its place in the topic.
    private func record(_ index: Int, clock: EvaluationTime?) -> InboundRecord {
        let (turn, which) = index.quotientAndRemainder(dividingBy: plans.count)
        let (plan, lane) = plans[which]
        var record = InboundRecord.unplaced(headers: [RecordHeader("request-id", "sim-\(seed)-\(index)")])
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
