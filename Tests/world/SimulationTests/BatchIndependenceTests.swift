import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import TestKit
import Testing

@Suite("A record's answer does not depend on its batch")
struct BatchIndependenceTests {
    /// A hash that is longer than the default allows, of a key whose attestation is in the same batch, or in the one before.
    @Test(
        arguments: [(nil, ["accepted", "accepted"]), (.nonceOfOtherClientData, ["nonce-mismatch", "unknown-key"])]
            as [(AttestationFault?, [String])]
    )
    func `a client data hash within the configured limit is judged alike in one batch and in two`(
        fault: AttestationFault?,
        answers: [String]
    ) throws {
        let device = LoopTests.device(900)
        let hash = [UInt8](repeating: 7, count: 1_500)
        let values = [
            RequestRecords.attestation(of: device, hash: fault == nil ? hash : nil, fault: fault),
            RequestRecords.assertion(of: device, counter: 1, hash: hash),
        ]
        let records = values.enumerated().map { index, value in
            RequestRecords.record(value, key: device.keyID.recordKey, offset: Int64(index), id: "request-\(index)")
        }
        let expected: [Int64: String] = [0: answers[0], 1: answers[1]]
        for (batch, seeds) in [(1, [1]), (64, LoopTests.seeds)] as [(Int, [UInt64])] {
            for seed in seeds {
                let run = try LoopRun(records, seed: seed, batchRecords: batch) {
                    $0.registry = try RequestRecords.registry(clientDataHash: .any)
                    $0.limits.clientDataHashBytes = 2_048
                }
                #expect(try run.outcomes() == expected)
            }
        }
    }
}
