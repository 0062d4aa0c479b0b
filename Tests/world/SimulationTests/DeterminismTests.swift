import Foundation
import Pipeline
import SimulationKit
import Streams
import Testing

/// The oracle of determinism: `ORACLE_CAPTURES` says how many random captures it is asked about.
@Suite("One capture, one verdict")
struct DeterminismTests {
    static let captures: ClosedRange<UInt64> = {
        let count = ProcessInfo.processInfo.environment["ORACLE_CAPTURES"].flatMap { UInt64($0) } ?? 24
        return 1...max(1, count)
    }()

    @Test(arguments: captures)
    func `random traffic gives the same bytes in every layout of batches and lanes`(seed: UInt64) throws {
        let capture = try RandomCapture(seed: seed)
        let expected = try CaptureRun(capture, CaptureLayout(batch: 1, lanes: 1))
        #expect(expected.outputs[.results].map(\.count) ?? 0 > 20)
        for layout in CaptureLayout.all {
            let found = try CaptureRun(capture, layout, seed: seed)
            if let difference = found.difference(from: expected) {
                Issue.record("capture \(seed), \(layout): \(difference)")
                return
            }
        }
    }

    @Test func `the oracle's traffic covers its intended cases`() throws {
        var seen: [String: Int] = [:]
        // With 0: those that are explained are among them.
        for seed in 0...Self.captures.upperBound {
            let run = try CaptureRun(RandomCapture(seed: seed), CaptureLayout(batch: nil, lanes: 1))
            for output in run.outputs[.results] ?? [] {
                let result = try ReadResult(output)
                seen[result.reason ?? result.verdict, default: 0] += 1
                if String(decoding: output.value ?? [], as: UTF8.self).contains("\"restored\":true") {
                    seen["restored", default: 0] += 1
                }
                if result.duplicate { seen["duplicate", default: 0] += 1 }
            }
            seen["dead letter", default: 0] += run.outputs[.deadLetters]?.count ?? 0
            seen["token", default: 0] += run.outputs[.tokens]?.count ?? 0
        }
        let needed = [
            "accepted", "restored", "duplicate", "dead letter", "token", "unknown-key", "key-invalid",
            "counter-not-greater", "challenge-consumed", "challenge-invalid", "challenge-expired", "artifact-invalid",
            "key-already-bound", "signature-invalid", "nonce-mismatch", "malformed-assertion", "malformed-request",
        ]
        for name in needed { #expect(seen[name, default: 0] > 0, "\(name) was never reached: \(seen)") }
    }
}
