import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
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

    /// Runs values in order on partition 0; each gets its own request id unless one is given.
    static func run(
        _ values: [(value: [UInt8]?, key: [UInt8]?, id: String?)],
        seed: UInt64,
        registry: Registry? = nil,
        now: EvaluationTime? = nil,
        timestamps: [Int: Int64] = [:],
        ledgers: [Int32: KeyLedger] = [:]
    ) throws -> LoopRun {
        let records = values.enumerated().map { index, item in
            RequestRecords.record(
                item.value,
                key: item.key,
                offset: Int64(index),
                id: item.id ?? "request-\(index)",
                timestamp: timestamps[index] ?? RequestRecords.time
            )
        }
        return try LoopRun(
            records,
            settings: PipelineSettings(registry: try registry ?? RequestRecords.registry()),
            ca: ca,
            seed: seed,
            batchRecords: Int(1 + seed % 5),
            ledgers: ledgers.mapValues { PartitionLedger(keys: $0) },
            now: now
        )
    }

    /// Expects one output per request, with these outcomes.
    private static func expect(_ run: LoopRun, _ expected: [String]) throws {
        let outcomes = try run.outcomes()
        #expect(run.outputs.count == expected.count)
        #expect(expected.indices.map { outcomes[Int64($0)] ?? "nothing" } == expected)
    }

    @Test(arguments: seeds)
    func `an attestation and the assertions after it in one batch are accepted`(seed: UInt64) throws {
        let device = Self.device()
        let key = device.keyID.recordKey
        let run = try Self.run(
            [
                (RequestRecords.attestation(of: device), key, nil),
                (RequestRecords.assertion(of: device, counter: 1), key, nil),
                (RequestRecords.assertion(of: device, counter: 5), key, nil),
                (RequestRecords.assertion(of: device, counter: 5), key, "again"),
                (RequestRecords.assertion(of: device, counter: 3), key, nil),
                (RequestRecords.assertion(of: device, counter: 6), key, nil),
            ],
            seed: seed
        )
        let expected = [
            "accepted", "accepted", "accepted", "counter-not-greater", "counter-not-greater", "accepted",
        ]
        try Self.expect(run, expected)
        #expect(run.ledgers[0]?.keys[device.keyID]?.counter == 6)
    }

    @Test(arguments: seeds)
    func `an assertion after a refused attestation in its batch has an unknown key`(seed: UInt64) throws {
        let device = Self.device()
        let key = device.keyID.recordKey
        let run = try Self.run(
            [
                (RequestRecords.assertion(of: device, counter: 1), key, nil),
                (RequestRecords.attestation(of: device, fault: .nonceOfOtherClientData), key, nil),
                (RequestRecords.assertion(of: device, counter: 2), key, nil),
                (RequestRecords.attestation(of: device), key, nil),
                (RequestRecords.assertion(of: device, counter: 3), key, nil),
            ],
            seed: seed
        )
        try Self.expect(run, ["unknown-key", "nonce-mismatch", "unknown-key", "accepted", "accepted"])
    }

    @Test(arguments: seeds)
    func `a redelivered request gets its verdict again and moves nothing; another id does not`(seed: UInt64) throws {
        let device = Self.device()
        let key = device.keyID.recordKey
        let attestation = RequestRecords.attestation(of: device)
        let assertion = RequestRecords.assertion(of: device, counter: 4)
        let run = try Self.run(
            [
                (attestation, key, "a"), (attestation, key, "a"), (attestation, key, "b"),
                (assertion, key, "c"), (assertion, key, "c"), (assertion, key, "d"), (assertion, key, "c"),
                (attestation, key, "a"),
            ],
            seed: seed
        )
        let expected = [
            "accepted", "accepted (duplicate)", "challenge-consumed", "accepted", "accepted (duplicate)",
            "counter-not-greater", "accepted (duplicate)", "challenge-consumed",
        ]
        try Self.expect(run, expected)
        let again = try ReadResult(run.outputs[4])
        #expect(again.counter == 4 && again.previousCounter == nil)
        #expect(run.ledgers[0]?.keys[device.keyID]?.counter == 4)
        #expect(run.tally.duplicates == 3)
    }

    @Test(arguments: seeds)
    func `a key that attests again keeps its counter`(seed: UInt64) throws {
        let device = Self.device()
        let key = device.keyID.recordKey
        let run = try Self.run(
            [
                (RequestRecords.attestation(of: device), key, nil),
                (RequestRecords.assertion(of: device, counter: 9), key, nil),
                (RequestRecords.attestation(of: device, challenge: 2), key, nil),
                (RequestRecords.assertion(of: device, counter: 9), key, "other"),
                (RequestRecords.assertion(of: device, counter: 10), key, nil),
            ],
            seed: seed
        )
        try Self.expect(run, ["accepted", "accepted", "accepted", "counter-not-greater", "accepted"])
    }

    @Test(arguments: seeds)
    func `a key belongs to the app that it was attested for`(seed: UInt64) throws {
        let one = try RequestRecords.registry()
        var other = one.apps[0]
        other.appID = "1:123456789012:ios:ffffffffffffffff"
        let registry = try Registry(apps: one.apps + [other])
        let device = Self.device()
        let key = device.keyID.recordKey
        let resource = "projects/123456789012/apps/\(other.appID)"
        let hash = [UInt8](repeating: 2, count: 32)
        func value(_ verb: Verb, _ object: [UInt8]) -> [UInt8] {
            ExchangeRequest.plain(verb, object, of: device, hash: hash, resource: resource).value
        }
        let foreign = value(.verifyAssertion, device.assertion(clientDataHash: hash, counter: 8))
        let attestation = value(.verifyAttestation, device.attest(clientDataHash: hash, at: RequestRecords.now))
        let run = try Self.run(
            [
                (RequestRecords.attestation(of: device), key, nil), (foreign, key, nil), (attestation, key, nil),
                (RequestRecords.assertion(of: device, counter: 1), key, nil),
            ],
            seed: seed,
            registry: registry
        )
        try Self.expect(run, ["accepted", "key-already-bound", "key-already-bound", "accepted"])
    }

    @Test(arguments: seeds)
    func `live mode refuses records that are too old or from the future, but repeats verdicts`(seed: UInt64) throws {
        let device = Self.device()
        let key = device.keyID.recordKey
        let hour: Int64 = 3_600_000
        let run = try Self.run(
            [
                (RequestRecords.attestation(of: device), key, nil),
                (RequestRecords.assertion(of: device, counter: 1), key, "one"),
                (RequestRecords.assertion(of: device, counter: 2), key, nil),
                (RequestRecords.assertion(of: device, counter: 3), key, nil),
                (RequestRecords.assertion(of: device, counter: 1), key, "one"),
            ],
            seed: seed,
            now: EvaluationTime(milliseconds: RequestRecords.time + hour),
            timestamps: [
                2: RequestRecords.time - 96 * hour, 3: RequestRecords.time + 2 * hour,
                4: RequestRecords.time - 200 * hour,
            ]
        )
        try Self.expect(run, ["accepted", "accepted", "too-old", "from-future", "accepted (duplicate)"])
    }
}
