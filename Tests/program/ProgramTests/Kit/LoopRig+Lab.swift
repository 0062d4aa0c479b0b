internal import Crypto
internal import Pipeline
internal import Settings
internal import SimulationKit
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Run

extension LoopRig {
    /// Lanes without anchors.
    static func lab(
        lanes: Int,
        alarm: @escaping EngineWatch.Alarm = { Issue.record(Comment(rawValue: $0)) }
    ) throws -> LoopRig {
        var configuration = Configuration()
        configuration.lanes = lanes
        return try LoopRig(configuration, alarm: alarm)
    }
}

extension LoopDriver {
    /// A loop that this driver can run, on a rig's lanes.
    func loop(_ source: any RequestSource, _ rig: LoopRig) throws -> BatchLoop {
        BatchLoop(
            streams: StreamRoles(source: source, transaction: MemoryTransaction()),
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            lanes: rig.lanes,
            post: post,
            wallClock: { nil }
        )
    }
}
