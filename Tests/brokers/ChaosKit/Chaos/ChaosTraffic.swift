internal import AppAttest
internal import AppCheck
package import Broker
package import DeviceLab
internal import Dispatch
internal import Foundation
internal import Pipeline
internal import Streams
internal import TestKit
internal import Threads

/// The requests of a run, in order: fake devices with some faults, and among them deliveries that come twice, old
/// assertions under new ids, and records of hostile senders. Same authority, seed and clock, same requests.
///
/// Signing is shared out over all cores, a chunk at a time. For one thread at a time.
package final class ChaosTraffic {
    /// What a request is beside the devices' own and hostile ones, in thousandths.
    private static let twice: UInt64 = 20
    private static let underNewID: UInt64 = 10
    /// Old requests to choose from.
    private static let kept = 4096
    static let chunk = 2048

    private let fleet: FakeFleet
    private let lanes: [TrafficLane]
    private let seed: UInt64
    private let total: Int
    /// In thousandths.
    private let hostile: UInt64
    private var random: SeededRandom
    private var made = 0
    private var fleetIndex = 0
    private var recent: [PublishRecord] = []
    private let exchange: ChaosExchangeTraffic?
    /// In thousandths.
    private let exchangeShare: UInt64

    /// - Parameters:
    ///   - settings: their requests are all of them, the extra ones included; each of their devices attests once before
    ///     the first extra request.
    ///   - exchange: makes the requests of the App Check exchange; nil = none.
    package init(ca: LabCA, _ settings: ChaosSettings, exchange: ChaosExchangeTraffic? = nil) {
        (self.exchange, exchangeShare) = (exchange, UInt64(settings.exchangeShare * 1000))
        (seed, total, hostile) = (settings.seed, settings.requests, UInt64(settings.hostileShare * 1000))
        var plan = FleetPlan(
            ca: ca,
            seed: settings.seed,
            appIDs: ["ABCDE12345.com.example.app"],
            devices: settings.deviceCount,
            records: max(settings.requests, settings.deviceCount),
            start: EvaluationTime(milliseconds: 0)
        )
        plan.faultShare = settings.faultShare
        fleet = FakeFleet(plan)
        let cores = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
        lanes = (0..<cores).map { [fleet, seed] _ in TrafficLane(fleet.lane(), seed) }
        random = SeededRandom(seed: seed ^ 0xC4A0_5C4A_05C4_A05C)
    }

    /// Every request was made.
    package var isDone: Bool { made >= total }

    /// The next requests; empty at the end.
    ///
    /// - Parameter clock: the devices' time, in milliseconds since 1970.
    package func take(_ limit: Int = chunk, clock: Int64) -> [PublishRecord] {
        let count = min(limit, total - made)
        guard count > 0 else { return [] }
        let kinds = (0..<count).map { kind(of: made + $0) }
        let honest = make(kinds.count { $0 == .device }, EvaluationTime(milliseconds: clock))
        var next = honest.makeIterator()
        let requests = kinds.map { kind in
            defer { made += 1 }
            if kind == .exchange, let exchange { return exchange.next(clock: clock) }
            return kind == .device ? next.next() ?? HostileRequest.any(&random) : extra(kind)
        }
        return requests
    }

    private enum Kind { case device, twice, underNewID, hostile, exchange }

    private func kind(of index: Int) -> Kind {
        guard index >= fleet.plan.devices else { return .device }
        if exchange != nil, random.next() % 1000 < exchangeShare { return .exchange }
        switch random.next() % 1000 {
        case 0..<Self.twice: return .twice
        case Self.twice..<Self.twice + Self.underNewID: return .underNewID
        case Self.twice + Self.underNewID..<Self.twice + Self.underNewID + hostile: return .hostile
        default: return .device
        }
    }

    private func extra(_ kind: Kind) -> PublishRecord {
        guard kind != .hostile, !recent.isEmpty else { return HostileRequest.any(&random) }
        var request = recent[Int(random.next() % UInt64(recent.count))]
        if kind == .underNewID { request.headers = [RecordHeader("request-id", "again-\(seed)-\(made)")] }
        return request
    }

    /// The fleet's next records, in order; lanes take every n-th.
    private func make(_ count: Int, _ time: EvaluationTime) -> [PublishRecord] {
        let start = fleetIndex
        fleetIndex += count
        let parts = Locked<[[PublishRecord]]>(Array(repeating: [], count: lanes.count))
        DispatchQueue.concurrentPerform(iterations: lanes.count) { [lanes] lane in
            let indices = stride(from: start + lane, to: start + count, by: lanes.count)
            let made = indices.map { lanes[lane].request($0, time) }
            parts.withLock { $0[lane] = made }
        }
        let made = parts.withLock { $0 }
        let requests = (0..<count).map { made[$0 % made.count][$0 / made.count] }
        recent = Array((recent + requests).suffix(Self.kept))
        return requests
    }
}

/// One lane's own devices, which make its requests.
private final class TrafficLane: @unchecked Sendable {
    // One lane is used by one thread at a time: `concurrentPerform` hands each index out once.
    private let lane: FleetLane
    private let seed: UInt64

    init(_ lane: FleetLane, _ seed: UInt64) { (self.lane, self.seed) = (lane, seed) }

    func request(_ index: Int, _ time: EvaluationTime) -> PublishRecord {
        let record = lane.record(index, at: time)
        return PublishRecord(
            key: record.keyID.recordKey,
            value: RequestRecords.value(
                verb: record.kind == .attestation ? .verifyAttestation : .verifyAssertion,
                object: record.object,
                keyID: record.keyID,
                clientDataHash: record.clientDataHash
            ),
            headers: [RecordHeader("request-id", "chaos-\(seed)-\(index)")]
        )
    }
}
