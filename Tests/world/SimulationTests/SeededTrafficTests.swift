import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Random traffic of a few devices over three partitions, with duplicates and replays, on streams that fail.
@Suite("Seeded traffic")
struct SeededTrafficTests {
    static let seeds: [UInt64] = Array(1...16)

    /// The values are made once: signing is what costs.
    private static let pool: [(device: FakeDevice, attestations: [[UInt8]], assertions: [[UInt8]])] =
        (0..<4 as Range<UInt64>).map { number in
            let device = LoopTests.device(500 + number)
            return (
                device, (1...2).map { RequestRecords.attestation(of: device, challenge: $0) },
                (1...8).map { RequestRecords.assertion(of: device, counter: $0) }
            )
        }

    static func traffic(seed: UInt64) -> [InboundRecord] {
        var random = SeededRandom(seed: seed &* 7919)
        var offsets: [Int32: Int64] = [:]
        var sent: [InboundRecord] = []
        for index in 0..<150 {
            let number = Int.random(in: 0..<pool.count, using: &random)
            let partition = Int32(number % 3)
            let offset = offsets[partition, default: 0]
            offsets[partition] = offset + 1 + Int64.random(in: 0...1, using: &random)
            if let repeated = sent.filter({ $0.partition == partition }).randomElement(using: &random),
                Double.random(in: 0..<1, using: &random) < 0.2
            {
                var again = repeated
                again.offset = offset
                sent.append(again)
                continue
            }
            let attests = Double.random(in: 0..<1, using: &random) < 0.15
            let values = attests ? pool[number].attestations : pool[number].assertions
            guard let value = values.randomElement(using: &random) else { continue }
            sent.append(
                RequestRecords.record(
                    value,
                    key: pool[number].device.keyID.recordKey,
                    partition: partition,
                    offset: offset,
                    id: "request-\(index)"
                )
            )
        }
        return sent
    }

    private static func place(_ output: OutboundRecord) -> RecordPlace {
        RecordPlace(partition: output.partition, offset: output.sourceOffset)
    }

    private static func states(_ run: LoopRun) -> [Int32: [KeyID: KeyRecord]] {
        run.ledgers.mapValues { ledger in
            var records: [KeyID: KeyRecord] = [:]
            ledger.keys.forEach { records[$0] = $1 }
            return records
        }
    }

    /// Expects the calm run's answers: outputs may be duplicates, but never differ.
    ///
    /// - Returns: the calm run.
    @discardableResult
    private static func expectCalmAnswers(_ rough: LoopRun, to records: [InboundRecord]) throws -> LoopRun {
        let calm = try LoopRun(records)
        let expected = Dictionary(uniqueKeysWithValues: calm.outputs.map { (place($0), $0) })
        #expect(rough.streams.faults > 0)
        for output in rough.outputs { #expect(expected[place(output)] == output) }
        #expect(Set(rough.outputs.map(place)) == Set(expected.keys))
        return calm
    }

    @Test(arguments: seeds)
    func `failed commits lose no request, change no verdict and move no counter twice`(seed: UInt64) throws {
        let records = Self.traffic(seed: seed)
        var chances = SimulatedStreams.Chances()
        chances.commitFault = 0.3
        let rough = try LoopRun(records, seed: seed, chances: chances)
        let calm = try Self.expectCalmAnswers(rough, to: records)
        #expect(Self.states(rough) == Self.states(calm))
    }

    @Test(arguments: 101...116 as ClosedRange<UInt64>)
    func `a fault of any call loses no request and changes no answer`(seed: UInt64) throws {
        let records = Self.traffic(seed: seed)
        var chances = SimulatedStreams.Chances()
        (chances.callFault, chances.commitFault, chances.assignedAgain) = (0.15, 0.15, 0.1)
        let rough = try LoopRun(records, seed: seed, batchRecords: Int(1 + seed % 24), chances: chances)
        try Self.expectCalmAnswers(rough, to: records)
    }

    @Test(arguments: 101...116 as ClosedRange<UInt64>)
    func `a commit that fails after the input's end is retried`(seed: UInt64) throws {
        let records = Self.traffic(seed: seed)
        var chances = SimulatedStreams.Chances()
        chances.commitFault = 0.4
        chances.faults = [.nothingDone]
        chances.endsWhenRead = true
        let run = try LoopRun(records, seed: seed, batchRecords: Int(1 + seed % 24), chances: chances)
        #expect(Set(run.outputs.map(Self.place)).count == records.count)
    }
}
