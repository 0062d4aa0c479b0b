import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import TestKit
import Testing

@Suite struct ChallengeUseTests {
    private static let life: Int64 = 300_000

    @Test(arguments: [(life - 1, "accepted"), (life, "challenge-expired")])
    func `a challenge is valid by stream time until its ttl is over`(age: Int64, expected: String) throws {
        let (rig, device) = try ExchangeRig.fresh()
        let challenge = try rig.challenge()
        rig.time += age
        #expect(try rig.send(.attestation(of: device, challenge: challenge)).summary == expected)
    }

    @Test func `a record with a time before the stream time is judged by the stream time`() throws {
        let (rig, device) = try ExchangeRig.fresh()
        let challenge = try rig.challenge()
        rig.time += Self.life
        _ = try rig.challenge()
        let late = ExchangeRequest.attestation(of: device, challenge: challenge).at(rig.time - 1000)
        #expect(try rig.send(late).reason == "challenge-expired")
    }

    @Test func `a challenge serves each key once`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var (first, second) = (FakeDevice(ExchangeKit.model, seed: 3), FakeDevice(ExchangeKit.model, seed: 4))
        let (mine, others) = (try rig.register(first), try rig.register(second))
        let challenge = try rig.challenge()
        func use(_ device: inout FakeDevice, _ artifact: [UInt8]) throws -> String? {
            try rig.send(.assertion(of: &device, artifact: artifact, challenge: challenge)).summary
        }
        #expect(try use(&first, mine) == "accepted")
        #expect(try use(&first, mine) == "challenge-consumed")
        #expect(rig.key(first)?.counter == 1)
        #expect(try use(&second, others) == "accepted")
        #expect(try use(&second, others) == "challenge-consumed")
    }

    @Test func `within one batch a challenge is also used only once`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let challenge = try rig.challenge()
        let requests = (0..<3).map { _ in
            ExchangeRequest.assertion(of: &device, artifact: artifact, challenge: challenge)
        }
        #expect(try rig.send(requests).map(\.summary) == ["accepted", "challenge-consumed", "challenge-consumed"])
    }

    @Test func `a refused request does not consume its challenge`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let challenge = try rig.challenge()
        let answers = try [AssertionFault.byOtherKey, nil].map { fault in
            try rig.send(.assertion(of: &device, artifact: artifact, challenge: challenge, fault: fault))
        }
        #expect(answers.map(\.summary) == ["signature-invalid", "accepted"])
    }

    @Test(arguments: ["bit", "short", "long", "other app", "unknown key", "bare bytes"])
    func `only a challenge that was sealed for the app is valid`(fault: String) throws {
        let (rig, device) = try ExchangeRig.fresh()
        var challenge = try rig.challenge(fault == "other app" ? ExchangeKit.otherResource : ExchangeKit.resource)
        switch fault {
        case "bit": challenge[20] ^= 1
        case "short": challenge.removeLast()
        case "long": challenge.append(0)
        case "unknown key": challenge[2] ^= 1
        case "bare bytes": challenge = [UInt8](repeating: 7, count: 32)
        default: break
        }
        let answers = try rig.send(.attestation(of: device, challenge: challenge))
        // What a file may still bring must not cost a device its key.
        let isUnlisted = fault == "unknown key"
        #expect(answers.reason == (isUnlisted ? "challenge-key-unknown" : "challenge-invalid"))
        #expect(answers.code == (isUnlisted ? 503 : 403))
        #expect(rig.key(device) == nil)
    }

    @Test(arguments: [true, false])
    func `an empty challenge is malformed in every challenge mode`(isSealed: Bool) throws {
        var settings = try ExchangeKit.settings()
        settings.exchange.challenges.mode = isSealed ? .sealed : .external
        var (rig, device) = try ExchangeRig.fresh(settings)
        let artifact = [1] + device.keyID.bytes + [UInt8](repeating: 0, count: 64)
        let requests = [
            ExchangeRequest.attestation(of: device, challenge: []),
            .assertion(of: &device, artifact: artifact, challenge: []),
        ]
        for answers in try rig.send(requests) { #expect(answers.reason == "malformed-request" && answers.code == 400) }
        #expect(try rig.send(.attestation(of: device, challenge: [7])).reason != "malformed-request")
    }

    @Test func `challenge keys rotate: the new one seals, the old one's challenges stay valid`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(keys: ExchangeKit.keys(challenges: [2])))
        let old = try rig.challenge()
        #expect(try rig.replace(ExchangeKit.settings(keys: ExchangeKit.keys(challenges: [9, 2]))) == nil)
        let new = try rig.challenge()
        #expect(old[1..<5] != new[1..<5])
        for (seed, challenge) in [(UInt64(3), old), (4, new)] {
            let device = FakeDevice(ExchangeKit.model, seed: seed)
            #expect(try rig.send(.attestation(of: device, challenge: challenge)).verdict == "accepted")
        }
        #expect(try rig.replace(ExchangeKit.settings(keys: ExchangeKit.keys(challenges: [9]))) == nil)
        let device = FakeDevice(ExchangeKit.model, seed: 5)
        #expect(try rig.send(.attestation(of: device, challenge: old)).reason == "challenge-key-unknown")
    }

    @Test func `in external mode the gateway's challenges are accepted as they are, and none is made`() throws {
        var settings = try ExchangeKit.settings()
        settings.exchange.challenges.mode = .external
        let rig = try ExchangeRig(settings)
        let refused = try rig.send(.challenge())
        #expect(refused.reason == "unknown-method")
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let challenge = [UInt8](repeating: 7, count: 32)
        let attested = try rig.send(.attestation(of: device, challenge: challenge))
        let artifact = try #require(attested.artifact)
        for _ in 0..<2 {
            let next = ExchangeRequest.assertion(of: &device, artifact: artifact, challenge: challenge)
            #expect(try rig.send(next).verdict == "accepted")
        }
        let wrong = ExchangeRequest.attestation(of: device, challenge: challenge, hashed: [8])
        #expect(try rig.send(wrong).reason == "nonce-mismatch")
    }

    @Test func `an assertion signs artifact and challenge, in this order`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let challenge = try rig.challenge()
        let signed = [challenge, artifact, challenge + artifact, artifact + challenge]
        let answers = try signed.map { hashed in
            try rig.send(.assertion(of: &device, artifact: artifact, challenge: challenge, hashed: hashed))
        }
        #expect(answers.map(\.summary) == Array(repeating: "signature-invalid", count: 3) + ["accepted"])
    }
}
