import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing
internal import Threads

/// The checks of a record end at the reason of its verdict, whatever the record and wherever its batch ends.
@Suite("Explanations of random captures")
struct ExplanationOracleTests {
    private static func explain(
        _ capture: RandomCapture,
        _ layout: CaptureLayout,
        records: [InboundRecord]? = nil
    ) throws {
        let seen = Locked<[Observation]>([])
        _ = try CaptureRun(capture, layout, records: records) { observation in
            seen.withLock { $0.append(observation) }
        }
        let observations = seen.withLock { $0 }
        #expect(observations.count == (records ?? capture.records).count)
        let explainer = Explainer(
            settings: capture.settings,
            anchors: try RandomCapture.ca.anchors(),
            engine: OracleEngine(),
            now: capture.now
        )
        for observation in observations {
            let found = explainer.explain(observation)
            let place =
                "seed \(capture.seed), \(layout), \(found.record.record.partition)/\(found.record.record.offset)"
            let own = found.reason ?? "accepted"
            #expect(found.checks.firstFailure == found.reason, "\(place): \(own)")
            if found.reason != nil { #expect(!found.comparisons.isEmpty, "\(place): \(own)") }
        }
    }

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `each record of a random capture is explained by its own reason`(seed: UInt64) throws {
        let capture = try RandomCapture(seed: seed)
        try Self.explain(capture, CaptureLayout(batch: 1, lanes: 1))
        try Self.explain(capture, CaptureLayout(batch: nil, lanes: 2))
    }

    @Test(arguments: 100..<116 as Range<UInt64>)
    func `damaged records are explained by their own reason`(seed: UInt64) throws {
        let capture = try RandomCapture(seed: seed)
        var random = SeededRandom(seed: seed)
        let records = capture.records.map { record in
            var record = record
            guard var value = record.value, !value.isEmpty else { return record }
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<value.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: value[place] = UInt8.random(in: 0...255, using: &random)
                case 1: value.remove(at: place)
                case 2: value.insert(UInt8.random(in: 32..<127, using: &random), at: place)
                default: value = Array(value.prefix(max(1, place)))
                }
                if value.isEmpty { value = [0x7B] }
            }
            record.value = value
            return record
        }
        try Self.explain(capture, CaptureLayout(batch: 7, lanes: 1), records: records)
    }
}
