import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import TestKit
import Testing

/// Costly checks run only after every cheaper check that could refuse the request has passed.
@Suite("The order of verification")
struct VerificationOrderTests {
    private final class CountingEngine: SignatureEngine {
        private(set) var checks = 0
        private let engine = OpenSSLEngine()

        func verify(_ checks: [SignatureCheck]) -> [Bool] {
            self.checks += checks.count
            return engine.verify(checks)
        }
    }

    /// The answer to one request, and the signatures that were verified for it.
    private static func run(_ request: ExchangeRequest) throws -> (answer: String, checks: Int) {
        let engine = CountingEngine()
        let record = RequestRecords.record(
            request.value,
            key: request.key,
            offset: 0,
            id: "one",
            timestamp: ExchangeKit.start
        )
        let run = try LoopRun(
            [record],
            settings: ExchangeKit.settings(),
            ca: ExchangeKit.ca,
            engine: engine
        )
        return (try run.outcomes()[0] ?? "nothing", engine.checks)
    }

    private static func challenge() throws -> [UInt8] {
        let key = try #require(ExchangeKit.settings().exchange.keys.challenges.active)
        let time = EvaluationTime(milliseconds: ExchangeKit.start - 10)
        return key.seal(app: ExchangeKit.name, issuedAt: time, random: [UInt8](repeating: 1, count: 16))
    }

    private static func artifact(of device: FakeDevice) throws -> [UInt8] {
        let key = try #require(ExchangeKit.settings().exchange.keys.sealing.active)
        return key.seal(
            Artifact(
                publicKey: device.publicKey,
                app: ExchangeKit.name,
                appleAppID: ExchangeKit.appleAppID,
                environment: .production,
                registeredAt: EvaluationTime(milliseconds: ExchangeKit.start - 1000)
            )
        )
    }

    @Test(arguments: [false, true])
    func `an exchange with a wrong challenge MAC costs no signature check`(isForged: Bool) throws {
        var device = FakeDevice(ExchangeKit.model, seed: 70)
        var challenge = try Self.challenge()
        if isForged { challenge[challenge.count - 1] ^= 1 }
        let attested = try Self.run(.attestation(of: device, challenge: challenge))
        // The leaf's and the receipt's.
        #expect(attested == (isForged ? ("challenge-invalid", 0) : ("accepted", 2)))
        let artifact = try Self.artifact(of: device)
        let asserted = try Self.run(.assertion(of: &device, artifact: artifact, challenge: challenge))
        #expect(asserted == (isForged ? ("challenge-invalid", 0) : ("accepted", 1)))
    }

    @Test func `an exchange whose artifact does not open costs no signature check`() throws {
        var device = FakeDevice(ExchangeKit.model, seed: 71)
        var artifact = try Self.artifact(of: device)
        artifact[artifact.count - 1] ^= 1
        let request = ExchangeRequest.assertion(of: &device, artifact: artifact, challenge: try Self.challenge())
        #expect(try Self.run(request) == ("artifact-invalid", 0))
    }

    @Test(
        arguments: [
            (AttestationFault?.none, "accepted", 2), (.leafSignatureFlipped, "chain", 1),
            (.nonceOfOtherClientData, "nonce-mismatch", 1),
        ]
    )
    func `a receipt is verified only after the leaf's signature and content`(
        fault: AttestationFault?,
        answer: String,
        checks: Int
    ) throws {
        let device = FakeDevice(ExchangeKit.model, seed: 72)
        let challenge = try Self.challenge()
        #expect(try Self.run(.attestation(of: device, challenge: challenge, fault: fault)) == (answer, checks))
    }
}
