import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// The loop on streams whose every call may fail: each request still gets its one answer, and counters move once.
@Suite("Faulty streams")
struct FaultyStreamsTests {
    static let seeds: [UInt64] = Array(101...116)

    private static func run(
        _ records: [InboundRecord],
        seed: UInt64,
        chances: SimulatedStreams.Chances
    ) throws -> LoopRun {
        try LoopRun(
            records,
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            ca: LoopTests.ca,
            seed: seed,
            batchRecords: Int(1 + seed % 24),
            chances: chances
        )
    }

    /// Outputs of a calm run, by partition and offset.
    private static func expected(_ records: [InboundRecord]) throws -> [String: OutboundRecord] {
        let calm = try run(records, seed: 1, chances: .init())
        return Dictionary(uniqueKeysWithValues: calm.outputs.map { (place($0), $0) })
    }

    private static func place(_ output: OutboundRecord) -> String { "\(output.partition)/\(output.sourceOffset)" }

    @Test(arguments: seeds)
    func `a fault of any call loses no request and changes no answer`(seed: UInt64) throws {
        let records = SeededTrafficTests.traffic(seed: seed)
        let expected = try Self.expected(records)
        var chances = SimulatedStreams.Chances()
        chances.callFault = 0.15
        chances.commitFault = 0.15
        chances.assignedAgain = 0.1
        let run = try Self.run(records, seed: seed, chances: chances)
        #expect(run.streams.faults > 0)
        for output in run.outputs { #expect(expected[Self.place(output)] == output) }
        #expect(Set(run.outputs.map(Self.place)) == Set(expected.keys))
    }

    @Test(arguments: seeds)
    func `if no commit is half done, every request is answered exactly once`(seed: UInt64) throws {
        let records = SeededTrafficTests.traffic(seed: seed)
        var chances = SimulatedStreams.Chances()
        chances.callFault = 0.1
        chances.commitFault = 0.2
        chances.rebalance = 0.05
        chances.faults = [.nothingDone]
        let run = try Self.run(records, seed: seed, chances: chances)
        #expect(run.outputs.count == records.count)
        #expect(Set(run.outputs.map(Self.place)).count == records.count)
        #expect(run.tally.requests == records.count)
    }

    @Test(arguments: seeds)
    func `a commit that fails after the input's end is retried`(seed: UInt64) throws {
        let records = SeededTrafficTests.traffic(seed: seed)
        var chances = SimulatedStreams.Chances()
        chances.commitFault = 0.4
        chances.faults = [.nothingDone]
        chances.endsWhenRead = true
        let run = try Self.run(records, seed: seed, chances: chances)
        #expect(Set(run.outputs.map(Self.place)).count == records.count)
    }
}
