import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import TestKit
import Testing

/// Corner cases where other records of the batch could have changed a record's answer.
@Suite("A record's answer does not depend on its batch")
struct BatchIndependenceTests {
    /// Outcomes with everything in one batch, and with every record in a batch of its own.
    private static func outcomes(
        _ values: [[UInt8]],
        key: [UInt8],
        limits: RequestLimits = RequestLimits()
    ) throws
        -> (together: [Int64: String], alone: [Int64: String])
    {
        let records = values.enumerated().map { index, value in
            RequestRecords.record(value, key: key, offset: Int64(index), id: "request-\(index)")
        }
        let settings = PipelineSettings(registry: try RequestRecords.registry(clientDataHash: .any), limits: limits)
        func run(_ batch: Int, _ seed: UInt64) throws -> [Int64: String] {
            try LoopRun(records, settings: settings, ca: LoopTests.ca, seed: seed, batchRecords: batch).outcomes()
        }
        let alone = try run(1, 1)
        for seed in LoopTests.seeds { #expect(try run(64, seed) == alone) }
        return (try run(64, 1), alone)
    }

    @Test func `a long client data hash of an unknown key, with an attestation beside it that is refused`() throws {
        let device = LoopTests.device(900)
        let hash = [UInt8](repeating: 7, count: 1_500)
        var limits = RequestLimits()
        limits.clientDataHashBytes = 2_048
        let assertion = RequestRecords.assertion(of: device, counter: 1, hash: hash)
        let found = try Self.outcomes(
            [RequestRecords.attestation(of: device, fault: .nonceOfOtherClientData), assertion],
            key: device.keyID.recordKey,
            limits: limits
        )
        #expect(found.together == found.alone)
        #expect(found.alone == [0: "nonce-mismatch", 1: "unknown-key"])
    }

    @Test func `a client data hash within the configured limit is verified, whatever the default is`() throws {
        let device = LoopTests.device(901)
        let hash = [UInt8](repeating: 7, count: 1_500)
        var limits = RequestLimits()
        limits.clientDataHashBytes = 2_048
        let attestation = RequestRecords.attestation(of: device, hash: hash)
        let assertion = RequestRecords.assertion(of: device, counter: 1, hash: hash)
        let found = try Self.outcomes([attestation, assertion], key: device.keyID.recordKey, limits: limits)
        #expect(found.alone == [0: "accepted", 1: "accepted"])
    }
}
