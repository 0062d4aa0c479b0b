import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite struct DuplicateTests {
    @Test func `a repeated assertion gets the same token with its remaining life, and changes nothing`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let request = try rig.assertion(of: &device, artifact).with(id: "r1")
        let first = try rig.send(request)
        let (record, writes) = (rig.key(device), rig.streams.ledger.count)
        // By then the challenge has expired.
        rig.time += 1_000_500
        let again = try rig.send(request)
        #expect(again.verdict == "accepted" && again.isDuplicate)
        // RS256 is deterministic: the same claims are the same bytes.
        #expect(again.tokenText == first.tokenText)
        #expect((first.ttl, again.ttl) == ("3599.750s", "2599.250s"))
        #expect(again.event == nil && first.eventName == "AppAttestSuccess")
        #expect(rig.key(device) == record && record?.counter == 1)
        let types = Set(rig.streams.ledger[writes...].map { $0.value == nil ? nil : $0.key.first })
        // Only time has moved: what has expired is forgotten.
        #expect(types.isSubset(of: [nil, LedgerTypes.streamTime]))
    }

    @Test func `a repeated attestation gets token and artifact again`() throws {
        let (rig, device) = try ExchangeRig.fresh()
        let request = try rig.attestation(of: device, limitedUse: true).with(id: "r1")
        let first = try rig.send(request)
        let writes = rig.streams.ledger.count
        rig.time += 100_000
        let again = try rig.send(request)
        #expect(again.isDuplicate && again.event == nil)
        #expect(again.tokenText == first.tokenText && again.artifact == first.artifact)
        #expect((first.ttl, again.ttl) == ("299.750s", "199.750s"))
        #expect(rig.streams.ledger.count == writes)
        // An expired token's ttl is 0s.
        rig.time += 300_000
        #expect(try rig.send(request).ttl == "0s")
    }

    @Test func `within one batch the second copy is the duplicate`() throws {
        let (rig, device) = try ExchangeRig.fresh()
        let request = try rig.attestation(of: device).with(id: "r1")
        let answers = try rig.send([request, request])
        #expect(answers.map(\.isDuplicate) == [false, true])
        #expect(answers[0].tokenText == answers[1].tokenText)
        #expect(answers.compactMap(\.eventName) == ["AppAttestSuccess"])
    }

    @Test func `a duplicate survives the worker, and a rotated signing key changes only its signature`() throws {
        let (rig, device) = try ExchangeRig.fresh()
        let request = try rig.attestation(of: device).with(id: "r1")
        let first = try #require(rig.send(request).token)
        let keys = try ExchangeKit.keys(tokens: [
            ExchangeKit.rs256(state: .published), ExchangeKit.rs256("N3w_Kd", key: ExchangeKit.otherRSA),
        ])
        rig.time += 5000
        try rig.restart(ExchangeKit.settings(keys: keys))
        let again = try rig.send(request)
        let token = try #require(again.token)
        #expect(again.isDuplicate)
        #expect((first.kid, token.kid) == ("Kx3_Qa", "N3w_Kd"))
        #expect(token.id == first.id && token.expiresAt == first.expiresAt && token.issuedAt == first.issuedAt)
        #expect(token.isSigned(by: keys.tokens) && first.isSigned(by: keys.tokens))
    }

    @Test func `another id or another value is another request`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let request = try rig.assertion(of: &device, artifact).with(id: "r1")
        #expect(try rig.send(request).verdict == "accepted")
        #expect(try rig.send(request.with(id: "r2")).reason == "challenge-consumed")
        var other = request
        other.value += [UInt8(ascii: " ")]
        #expect(try rig.send(other).reason == "challenge-consumed")
        #expect(rig.key(device)?.counter == 1)
    }

    @Test func `a lost attestation answer is requested again with a new challenge, and the counter stays`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        var client = StockClient(ExchangeKit.model, resource: ExchangeKit.resource, seed: 5)
        let lost = try rig.serve(&client) { $0.kind == .attestation }
        #expect(lost.outcomes == [.disconnected] && !client.isRegistered)
        let again = try rig.serve(&client)
        #expect(again.answers.map(\.summary) == ["accepted", "accepted"])
        #expect(client.isRegistered && client.keysMade == 1)
        #expect(again.answers[1].eventName == "AppAttestSuccess" && !again.answers[1].isDuplicate)

        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let artifact = try rig.register(device)
        let old = try rig.assertion(of: &device, artifact)
        for _ in 0..<3 { #expect(try rig.refresh(&device, artifact).verdict == "accepted") }
        let registeredAt = rig.key(device)?.registeredAt
        rig.time += 1000
        let fresh = try rig.register(device)
        #expect(rig.key(device)?.counter == 4)
        #expect(rig.key(device)?.registeredAt == registeredAt)
        // Both artifacts work; an assertion from before is still refused.
        #expect(try rig.send(old).reason == "counter-not-greater")
        #expect(try rig.refresh(&device, artifact).verdict == "accepted")
        #expect(try rig.refresh(&device, fresh).verdict == "accepted")
    }

    @Test(arguments: [true, false])
    func `the same attestation under another id is challenge-consumed, in every mode`(sealsChallenges: Bool) throws {
        var settings = try ExchangeKit.settings()
        settings.exchange.challenges.mode = sealsChallenges ? .sealed : .external
        let (rig, device) = try ExchangeRig.fresh(settings)
        let challenge = sealsChallenges ? try rig.challenge() : [1, 2, 3]
        let request = ExchangeRequest.attestation(of: device, challenge: challenge)
        #expect(try rig.send(request).verdict == "accepted")
        let again = try rig.send(request)
        #expect(again.reason == "challenge-consumed" && again.code == 403 && again.answer == nil)
    }

    @Test func `the artifact of a duplicate is sealed under the current key, which is in use from then on`() throws {
        let (rig, device) = try ExchangeRig.fresh(ExchangeKit.settings(sealing: [1]))
        let request = try rig.attestation(of: device).with(id: "r1")
        let first = try rig.send(request)
        #expect(try rig.replace(ExchangeKit.settings(sealing: [5, 1])) == nil)
        let again = try rig.send(request)
        #expect(again.isDuplicate && again.artifact != first.artifact)
        let lacking = try ExchangeKit.settings(sealing: [1])
        #expect(try rig.replace(lacking)?.ids == [SealingKeyID(of: "key-5").value])
    }

    @Test func `an id that is equal only by Unicode equivalence is another id`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let request = try rig.assertion(of: &device, artifact, limitedUse: true)
        #expect(try rig.send(request.with(id: "caf\u{E9}")).verdict == "accepted")
        // Taken for a duplicate it would get a second token, since a token's id is made of bytes.
        let other = try rig.send(request.with(id: "cafe\u{301}"))
        #expect(other.reason == "challenge-consumed" && other.answer == nil)
        #expect(try rig.send(request.with(id: "caf\u{E9}")).isDuplicate)
    }
}
