import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// The real loop over records in memory; every claim holds whatever the batches and the order of lanes.
@Suite("The loop")
struct LoopTests {
    static let ca = LabCA(seed: 7)
    static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8]

    static func device(_ seed: UInt64 = 1) -> FakeDevice {
        FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", seed: seed)
    }

    /// A request of the first device, and the answer to it.
    private struct Step {
        let value: [UInt8]
        let answer: String
        /// nil = one of its own.
        var id: String?
        var timestamp = RequestRecords.time

        static func attested(
            _ answer: String,
            challenge: UInt8 = 1,
            fault: AttestationFault? = nil,
            id: String? = nil
        ) -> Step {
            let value = RequestRecords.attestation(of: LoopTests.device(), challenge: challenge, fault: fault)
            return Step(value: value, answer: answer, id: id)
        }

        static func asserted(
            _ counter: UInt32,
            _ answer: String,
            id: String? = nil,
            timestamp: Int64 = RequestRecords.time
        ) -> Step {
            let value = RequestRecords.assertion(of: LoopTests.device(), counter: counter)
            return Step(value: value, answer: answer, id: id, timestamp: timestamp)
        }
    }

    /// Runs requests in order on partition 0, and expects one output of each.
    @discardableResult
    private static func expect(
        _ steps: [Step],
        seed: UInt64,
        registry: Registry? = nil,
        now: EvaluationTime? = nil
    ) throws -> LoopRun {
        let key = device().keyID.recordKey
        let records = steps.enumerated().map { index, step in
            RequestRecords.record(
                step.value,
                key: key,
                offset: Int64(index),
                id: step.id ?? "request-\(index)",
                timestamp: step.timestamp
            )
        }
        let run = try LoopRun(records, seed: seed, batchRecords: Int(1 + seed % 5), now: now) {
            if let registry { $0.registry = registry }
        }
        let outcomes = try run.outcomes()
        #expect(run.outputs.count == steps.count)
        #expect(steps.indices.map { outcomes[Int64($0)] ?? "nothing" } == steps.map(\.answer))
        return run
    }

    @Test(arguments: seeds)
    func `an attestation and the assertions after it in one batch are accepted`(seed: UInt64) throws {
        let steps: [Step] = [
            .attested("accepted"), .asserted(1, "accepted"), .asserted(5, "accepted"),
            .asserted(5, "counter-not-greater", id: "again"), .asserted(3, "counter-not-greater"),
            .asserted(6, "accepted"),
        ]
        let run = try Self.expect(steps, seed: seed)
        #expect(run.ledgers[0]?.keys[Self.device().keyID]?.counter == 6)
    }

    @Test(arguments: seeds)
    func `an assertion after a refused attestation in its batch has an unknown key`(seed: UInt64) throws {
        let steps: [Step] = [
            .asserted(1, "unknown-key"), .attested("nonce-mismatch", fault: .nonceOfOtherClientData),
            .asserted(2, "unknown-key"), .attested("accepted"), .asserted(3, "accepted"),
        ]
        try Self.expect(steps, seed: seed)
    }

    @Test(arguments: seeds)
    func `a redelivered request gets its verdict again and moves nothing; another id does not`(seed: UInt64) throws {
        let steps: [Step] = [
            .attested("accepted", id: "a"), .attested("accepted (duplicate)", id: "a"),
            .attested("challenge-consumed", id: "b"), .asserted(4, "accepted", id: "c"),
            .asserted(4, "accepted (duplicate)", id: "c"), .asserted(4, "counter-not-greater", id: "d"),
            .asserted(4, "accepted (duplicate)", id: "c"), .attested("challenge-consumed", id: "a"),
        ]
        let run = try Self.expect(steps, seed: seed)
        let again = try ReadResult(run.outputs[4])
        #expect(again.counter == 4 && again.previousCounter == nil)
        #expect(run.ledgers[0]?.keys[Self.device().keyID]?.counter == 4)
        #expect(run.tally.duplicates == 3)
    }

    @Test(arguments: seeds)
    func `a key that attests again keeps its counter`(seed: UInt64) throws {
        let steps: [Step] = [
            .attested("accepted"), .asserted(9, "accepted"), .attested("accepted", challenge: 2),
            .asserted(9, "counter-not-greater", id: "other"), .asserted(10, "accepted"),
        ]
        try Self.expect(steps, seed: seed)
    }

    @Test(arguments: seeds)
    func `a key belongs to the app that it was attested for`(seed: UInt64) throws {
        let one = try RequestRecords.registry()
        var other = one.apps[0]
        other.appID = "1:123456789012:ios:ffffffffffffffff"
        let registry = try Registry(apps: one.apps + [other])
        let device = Self.device()
        let resource = "projects/123456789012/apps/\(other.appID)"
        let hash = [UInt8](repeating: 2, count: 32)
        func foreign(_ verb: Verb, _ object: [UInt8]) -> Step {
            let request = ExchangeRequest.plain(verb, object, of: device, hash: hash, resource: resource)
            return Step(value: request.value, answer: "key-already-bound")
        }
        let steps: [Step] = [
            .attested("accepted"),
            foreign(.verifyAssertion, device.assertion(clientDataHash: hash, counter: 8)),
            foreign(.verifyAttestation, device.attest(clientDataHash: hash, at: RequestRecords.now)),
            .asserted(1, "accepted"),
        ]
        try Self.expect(steps, seed: seed, registry: registry)
    }

    @Test(arguments: seeds)
    func `live mode refuses records that are too old or from the future, but repeats verdicts`(seed: UInt64) throws {
        let (hour, time) = (Int64(3_600_000), RequestRecords.time)
        let steps: [Step] = [
            .attested("accepted"), .asserted(1, "accepted", id: "one"),
            .asserted(2, "too-old", timestamp: time - 96 * hour),
            .asserted(3, "from-future", timestamp: time + 2 * hour),
            .asserted(1, "accepted (duplicate)", id: "one", timestamp: time - 200 * hour),
        ]
        try Self.expect(steps, seed: seed, now: EvaluationTime(milliseconds: time + hour))
    }
}

extension LoopRun {
    /// Requests to one app, of devices of the tests' authority.
    init(
        _ records: [InboundRecord],
        seed: UInt64 = 1,
        batchRecords: Int = 16,
        chances: SimulatedStreams.Chances = .init(),
        now: EvaluationTime? = nil,
        change: (inout PipelineSettings) throws -> Void = { _ in }
    ) throws {
        var settings = PipelineSettings(registry: try RequestRecords.registry())
        try change(&settings)
        try self.init(
            records,
            settings: settings,
            ca: LoopTests.ca,
            seed: seed,
            batchRecords: batchRecords,
            chances: chances,
            now: now
        )
    }
}
