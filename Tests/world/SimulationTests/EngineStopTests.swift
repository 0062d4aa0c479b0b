import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Crypto

/// Until one of its answers is compared, an engine may have given many that nothing compared.
@Suite("An engine that is found wrong")
struct EngineStopTests {
    /// Gives every signature the same answer. One call is compared, as `BatchEngine` compares; the oracle is OpenSSL.
    private final class WrongEngine: SignatureEngine {
        private let right = OracleEngine()
        private let watch: EngineWatch
        private let answer: Bool
        private let compared: Int
        /// Calls with signatures in them.
        private(set) var calls = 0

        init(_ watch: EngineWatch, answer: Bool, compared: Int) {
            (self.watch, self.answer, self.compared) = (watch, answer, compared)
        }

        func verify(_ checks: [SignatureCheck]) -> [Bool] { right.verify(checks) }

        func verify(_ checks: [SignatureCheck], into answers: inout SignatureAnswers) {
            answers.begin(count: 0)
            answers.isValid = right.verify(checks)
            guard !watch.isStopped, let first = checks.first else { return }
            defer { calls += 1 }
            guard calls != compared else { return watch.stop(first, answered: answer) }
            answers.isValid = checks.map { _ in answer }
        }
    }

    /// Lanes that work when the test says so.
    private final class HeldLanes: LaneRunner, @unchecked Sendable {
        // Confined to the test's thread.
        private let scratch: LaneScratch
        private let watch: EngineWatch
        private var jobs: [() -> Void] = []
        /// How often a batch was verified.
        private(set) var verifications = 0

        init(_ scratch: LaneScratch, _ watch: EngineWatch) { (self.scratch, self.watch) = (scratch, watch) }

        var isEngineStopped: Bool { watch.isStopped }
        var count: Int { jobs.count }

        func run<Output: Sendable>(
            count: Int,
            grain: Int,
            priority: LanePriority,
            _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
            completion: @escaping @Sendable ([Output]) -> Void
        ) {
            if priority == .normal { verifications += 1 }
            jobs.append { [scratch] in
                let starts = stride(from: 0, to: count, by: grain)
                completion(starts.flatMap { body($0..<min($0 + grain, count), scratch) })
            }
        }

        func finishAll(newestFirst: Bool) {
            while !jobs.isEmpty { jobs.remove(at: newestFirst ? jobs.count - 1 : 0)() }
        }
    }

    private final class Alarms: @unchecked Sendable {
        // Called by the test's own thread.
        var count = 0
    }

    private struct Run {
        var outputs: [OutboundRecord]
        /// Of the engine, for the batches that are verified together.
        var calls: Int
        var alarms: Int
        var verifications: Int
    }

    private static let ca = LabCA(seed: 4, signer: OracleSigner())
    /// Two grains.
    private static let batchRecords = 64
    private static let batches = 4

    /// Attestations and assertions of a few devices; the signature of every third is wrong.
    private static let records: [InboundRecord] = {
        let devices = (0..<8 as Range<UInt64>).map {
            FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", seed: 700 + $0)
        }
        return (0..<(batches * batchRecords)).map { index in
            let (device, round) = (devices[index % devices.count], index / devices.count)
            let (isRight, number) = (index % 3 != 2, UInt8(1 + round))
            let value =
                round % 5 == 0
                ? RequestRecords.attestation(
                    of: device,
                    challenge: number,
                    fault: isRight ? nil : .leafSignatureFlipped
                )
                : RequestRecords.assertion(
                    of: device,
                    counter: UInt32(number),
                    fault: isRight ? nil : .signatureFlipped
                )
            let key = device.keyID.recordKey
            return RequestRecords.record(value, key: key, offset: Int64(index), id: "request-\(index)")
        }
    }()

    /// The first three batches are verified before one of them is admitted.
    ///
    /// - Parameter engine: nil = the one that is right.
    private static func run(_ engine: (answer: Bool, compared: Int)?, newestFirst: Bool = false) throws -> Run {
        let (alarms, settings) = (Alarms(), PipelineSettings(registry: try RequestRecords.registry()))
        let watch = EngineWatch(crossCheck: 0, key: 0) { _ in alarms.count += 1 }
        let wrong = engine.map { WrongEngine(watch, answer: $0.answer, compared: $0.compared) }
        let scratch = LaneScratch(
            verifier: ObjectVerifier(anchors: try ca.anchors(), limits: settings.objectLimits),
            engine: wrong ?? OracleEngine()
        )
        let (lanes, transaction) = (HeldLanes(scratch, watch), MemoryTransaction())
        var rest = records[...]
        let source = PolledSource { round, _, limits in
            (round.ended, round.records) = (rest.isEmpty, rest.prefix(limits.records).map { .record($0) })
            rest = rest.dropFirst(limits.records)
        }
        var options = BatchLoop.Options()
        options.batch.records = batchRecords
        let loop = BatchLoop(
            streams: StreamRoles(source: source, transaction: transaction),
            settings: settings,
            lanes: lanes,
            options: options,
            post: { $0() },
            wallClock: { nil }
        )
        while try loop.tick(waitMilliseconds: 0) == .worked {}
        lanes.finishAll(newestFirst: false)
        while try loop.tick(waitMilliseconds: 0) == .worked {}
        #expect(lanes.count == 3 && lanes.verifications == 3)
        lanes.finishAll(newestFirst: newestFirst)
        let calls = wrong?.calls ?? 0
        while try loop.tick(waitMilliseconds: 0) != .finished { lanes.finishAll(newestFirst: newestFirst) }
        return Run(
            outputs: transaction.outputs,
            calls: calls,
            alarms: alarms.count,
            verifications: lanes.verifications
        )
    }

    @Test func `changes answers as long as none is compared`() throws {
        let right = try Self.run(nil)
        for answer in [false, true] {
            let wrong = try Self.run((answer, .max))
            #expect(wrong.outputs.count == right.outputs.count && wrong.outputs != right.outputs)
            #expect(wrong.alarms == 0 && wrong.verifications == Self.batches)
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `has no part in any batch that was not admitted, whichever of its answers is compared first`(
        answer: Bool,
        newestFirst: Bool
    ) throws {
        let right = try Self.run(nil)
        let calls = try Self.run((answer, .max)).calls
        #expect(calls >= 6)
        for compared in 0..<calls {
            let run = try Self.run((answer, compared), newestFirst: newestFirst)
            #expect(run.outputs == right.outputs, "the call \(compared)")
            #expect(run.alarms == 1)
            // Three of them twice; the last begins after the stop.
            #expect(run.verifications == Self.batches + 3)
        }
    }
}
