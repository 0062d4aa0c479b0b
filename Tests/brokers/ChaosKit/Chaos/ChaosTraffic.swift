internal import AppAttest
internal import AppCheck
package import DeviceLab
internal import Dispatch
internal import Foundation
internal import Pipeline
package import Streams
internal import TestKit
internal import Threads

/// A request for the requests topic.
package struct ChaosRequest: Sendable, Equatable {
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]
}

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
    private var recent: [ChaosRequest] = []
    private let exchange: ChaosExchangeTraffic?
    /// In thousandths.
    private let exchangeShare: UInt64

    /// - Parameters:
    ///   - requests: all of them, the extra ones included.
    ///   - devices: each attests once before the first extra request.
    ///   - hostileShare: the part of the requests that hostile senders made, 0 to 0.97.
    ///   - exchange: makes the requests of the App Check exchange; nil = none.
    ///   - exchangeShare: their part of the requests after the first attestations, 0 to 1.
    package init(
        ca: LabCA,
        seed: UInt64,
        requests: Int,
        devices: Int,
        faultShare: Double,
        hostileShare: Double = 0.01,
        exchange: ChaosExchangeTraffic? = nil,
        exchangeShare: Double = 0
    ) {
        (self.exchange, self.exchangeShare) = (exchange, UInt64(exchangeShare * 1000))
        var plan = FleetPlan(
            ca: ca,
            seed: seed,
            appIDs: ["ABCDE12345.com.example.app"],
            devices: devices,
            records: max(requests, devices),
            start: EvaluationTime(milliseconds: 0)
        )
        plan.faultShare = faultShare
        fleet = FakeFleet(plan)
        let cores = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
        lanes = (0..<cores).map { [fleet] _ in TrafficLane(fleet.lane(), seed) }
        (self.seed, total, hostile) = (seed, requests, UInt64(hostileShare * 1000))
        random = SeededRandom(seed: seed ^ 0xC4A0_5C4A_05C4_A05C)
    }

    /// Every request was made.
    package var isDone: Bool { made >= total }

    /// The next requests; empty at the end.
    ///
    /// - Parameter clock: the devices' time, in milliseconds since 1970.
    package func take(_ limit: Int = chunk, clock: Int64) -> [ChaosRequest] {
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

    private func extra(_ kind: Kind) -> ChaosRequest {
        guard kind != .hostile, !recent.isEmpty else { return HostileRequest.any(&random) }
        var request = recent[Int(random.next() % UInt64(recent.count))]
        if kind == .underNewID { request.headers = [RecordHeader("request-id", "again-\(seed)-\(made)")] }
        return request
    }

    /// The fleet's next records, in order; lanes take every n-th.
    private func make(_ count: Int, _ time: EvaluationTime) -> [ChaosRequest] {
        let start = fleetIndex
        fleetIndex += count
        let parts = Locked<[[ChaosRequest]]>(Array(repeating: [], count: lanes.count))
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

    func request(_ index: Int, _ time: EvaluationTime) -> ChaosRequest {
        let record = lane.record(index, at: time)
        return ChaosRequest(
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
