import AppAttest
import Pipeline
import SimulationKit
import Streams

extension FleetTraffic {
    /// Made once for all suites: signing is what costs.
    static let imitated = Result { try FleetTraffic(.imitated) }
}

/// A loop on the fleet's settings, whose lanes finish as a seed says.
struct TrafficLoop {
    let scratch: LaneScratch
    let lanes: SimulatedLanes
    let loop: BatchLoop

    init(
        _ streams: StreamRoles,
        seed: UInt64 = 1,
        wallClock: @escaping @Sendable () -> EvaluationTime? = { nil },
        uptime: (@Sendable () -> Int64?)? = nil,
        notice: @escaping @Sendable (any SourceFault) -> Void = { _ in },
        options change: (inout BatchLoop.Options) -> Void = { _ in }
    ) throws {
        let traffic = try FleetTraffic.imitated.get()
        var options = BatchLoop.Options()
        change(&options)
        scratch = try traffic.scratch()
        lanes = SimulatedLanes(scratch: scratch, seed: seed)
        loop = lanes.loop(streams, traffic.settings, options, wallClock: wallClock, uptime: uptime, notice: notice)
    }

    /// Runs the loop to its end, with its lanes.
    func run(steps: Int = 1_000_000) throws -> Bool { try lanes.run(loop, steps: steps) }

    /// Ticks while no lane does anything.
    func tick(_ times: Int = 1) throws { for _ in 0..<times { _ = try loop.tick(waitMilliseconds: 0) } }
}

extension StreamRoles {
    /// Both roles are one object's.
    init(_ streams: some RequestSource & RecordTransaction) { self.init(source: streams, transaction: streams) }
}
