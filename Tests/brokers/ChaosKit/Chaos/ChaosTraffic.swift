internal import AppAttest
internal import AppCheck
package import Broker
package import DeviceLab
internal import Foundation
internal import Streams
internal import TestKit
internal import Traffic

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

    private let devices: SimulatedTraffic
    private let deviceCount: Int
    private let seed: UInt64
    private let total: Int
    /// In thousandths.
    private let hostile: UInt64
    private var random: SeededRandom
    private var made = 0
    private var recent: [PublishRecord] = []
    private let exchange: ChaosExchangeTraffic?
    /// In thousandths.
    private let exchangeShare: UInt64

    /// - Parameters:
    ///   - settings: their requests are all of them, the extra ones included; each of their devices attests once before
    ///     the first extra request.
    ///   - exchange: makes the requests of the App Check exchange; nil = none.
    package init(ca: LabCA, _ settings: ChaosSettings, exchange: ChaosExchangeTraffic? = nil) throws {
        (self.exchange, exchangeShare) = (exchange, UInt64(settings.exchangeShare * 1000))
        (seed, total, hostile) = (settings.seed, settings.requests, UInt64(settings.hostileShare * 1000))
        deviceCount = settings.deviceCount
        var plan = SimulationSettings(devices: deviceCount, records: max(total, deviceCount))
        (plan.seed, plan.faultShare) = (seed, settings.faultShare)
        devices = SimulatedTraffic(
            apps: try RequestRecords.registry().apps.compactMap { SimulatedApp($0) },
            ca: ca,
            settings: plan,
            seals: nil,
            // The producer chooses partitions.
            topic: RequestTopic(name: "", partitions: 1) { _ in 0 },
            lanes: max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
        )
        random = SeededRandom(seed: seed ^ 0xC4A0_5C4A_05C4_A05C)
    }

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
        return kinds.map { kind in
            defer { made += 1 }
            if kind == .exchange, let exchange { return exchange.next(clock: clock) }
            return kind == .device ? next.next() ?? HostileRequest.any(&random) : extra(kind)
        }
    }

    private enum Kind { case device, twice, underNewID, hostile, exchange }

    private func kind(of index: Int) -> Kind {
        guard index >= deviceCount else { return .device }
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

    /// The devices' next requests.
    private func make(_ count: Int, _ time: EvaluationTime) -> [PublishRecord] {
        let start = devices.made
        let requests = devices.make(count, clock: time).enumerated().map { index, record in
            let id = RecordHeader("request-id", "chaos-\(seed)-\(start + index)")
            return PublishRecord(key: record.key, value: record.value, headers: [id])
        }
        recent = Array((recent + requests).suffix(Self.kept))
        return requests
    }
}
