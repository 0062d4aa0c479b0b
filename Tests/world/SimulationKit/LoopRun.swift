package import AppAttest
package import Crypto
package import DeviceLab
package import Pipeline
package import Streams

/// Runs the real loop over records in memory and returns the outputs.
package struct LoopRun {
    package let outputs: [OutboundRecord]
    package let tally: LoopTally
    package let ledgers: [Int32: PartitionLedger]
    package let streams: SimulatedStreams

    package struct Unfinished: Error {}

    /// - Parameters:
    ///   - seed: decides batch sizes, faults and the order in which lanes finish.
    ///   - batchRecords: the largest batch.
    ///   - now: the wall clock; nil = replay.
    package init(
        _ records: [InboundRecord],
        settings: PipelineSettings,
        ca: LabCA,
        seed: UInt64 = 1,
        batchRecords: Int = 16,
        chances: SimulatedStreams.Chances = .init(),
        ledgers: [Int32: PartitionLedger] = [:],
        now: EvaluationTime? = nil,
        engine: any SignatureEngine = OpenSSLEngine()
    ) throws {
        let scratch = LaneScratch(
            verifier: ObjectVerifier(anchors: try ca.anchors(), limits: settings.objectLimits),
            engine: engine
        )
        let lanes = SimulatedLanes(scratch: scratch, seed: seed)
        streams = SimulatedStreams(records: records, seed: seed, chances: chances)
        var options = BatchLoop.Options()
        options.batch.records = batchRecords
        let roles = StreamRoles(source: streams, transaction: streams)
        let loop = lanes.loop(roles, settings, options, ledgers: ledgers, wallClock: { now })
        guard try lanes.run(loop) else { throw Unfinished() }
        outputs = streams.visible
        tally = loop.tally
        self.ledgers = loop.ledgers
    }
}
