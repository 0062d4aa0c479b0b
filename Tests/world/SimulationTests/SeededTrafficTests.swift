import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Random traffic of a few devices over three partitions, with duplicates and replays, through the loop under a seed.
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

    private static func run(
        _ records: [InboundRecord],
        seed: UInt64,
        batch: Int,
        chances: SimulatedStreams.Chances = .init()
    )
        throws -> LoopRun
    {
        try LoopRun(
            records,
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            ca: LoopTests.ca,
            seed: seed,
            batchRecords: batch,
            chances: chances
        )
    }

    private struct Place: Hashable {
        let partition: Int32
        let offset: Int64
        init(_ record: OutboundRecord) {
            partition = record.partition
            offset = record.sourceOffset
        }
    }

    private static func states(_ run: LoopRun) -> [Int32: [KeyID: KeyRecord]] {
        run.ledgers.mapValues { ledger in
            var records: [KeyID: KeyRecord] = [:]
            ledger.keys.forEach { records[$0] = $1 }
            return records
        }
    }

    @Test(arguments: seeds)
    func `neither batches nor the order of lanes change a byte of any result`(seed: UInt64) throws {
        let records = Self.traffic(seed: seed)
        let single = try Self.run(records, seed: 1, batch: 1)
        let batched = try Self.run(records, seed: seed, batch: 64)
        let expected = Dictionary(uniqueKeysWithValues: single.outputs.map { (Place($0), $0) })
        #expect(batched.outputs.count == records.count)
        for output in batched.outputs { #expect(expected[Place(output)] == output) }
        #expect(Self.states(batched) == Self.states(single))
    }

    @Test(arguments: seeds)
    func `results of one partition are written in the order of their requests`(seed: UInt64) throws {
        let run = try Self.run(Self.traffic(seed: seed), seed: seed, batch: 32)
        for (_, outputs) in Dictionary(grouping: run.outputs, by: \.partition) {
            let offsets = outputs.map(\.sourceOffset)
            #expect(offsets == offsets.sorted())
        }
    }

    @Test(arguments: seeds)
    func `failed commits lose no request, change no verdict and move no counter twice`(seed: UInt64) throws {
        let records = Self.traffic(seed: seed)
        let calm = try Self.run(records, seed: seed, batch: 16)
        var chances = SimulatedStreams.Chances()
        chances.commitFault = 0.3
        let rough = try Self.run(records, seed: seed, batch: 16, chances: chances)
        #expect(rough.streams.faults > 0)
        let expected = Dictionary(uniqueKeysWithValues: calm.outputs.map { (Place($0), $0) })
        // At least once: outputs may be duplicates, but never differ.
        for output in rough.outputs { #expect(expected[Place(output)] == output) }
        #expect(Set(rough.outputs.map(Place.init)) == Set(expected.keys))
        #expect(Self.states(rough) == Self.states(calm))
        try Self.expectEachCounterOnce(rough)
    }

    /// Every (key, counter) was accepted at one offset only, duplicates by request id aside.
    private static func expectEachCounterOnce(_ run: LoopRun) throws {
        var accepted: [String: Set<Place>] = [:]
        for output in run.outputs {
            let result = try ReadResult(output)
            guard result.verdict == "accepted", !result.duplicate, let counter = result.counter, counter > 0 else {
                continue
            }
            let key = String(decoding: output.key ?? [], as: UTF8.self)
            accepted["\(key) \(counter)", default: []].insert(Place(output))
        }
        for (name, places) in accepted { #expect(places.count == 1, "\(name) was accepted at \(places)") }
    }
}
