import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import TestKit
import Testing

/// A compromised signing key is taken out while the worker runs.
@Suite struct RevokedKeyTests {
    private static func rings(_ keys: [TokenKey], revoked: [String] = [], absent: [String] = []) throws -> KeyRings {
        var rings = try ExchangeKit.keys()
        rings.tokens = try TokenKeyRing(keys, revoked: revoked, absent: absent)
        return rings
    }

    private static func token(_ rig: ExchangeRig, seed: UInt64 = 3) throws -> String {
        var device = FakeDevice(ExchangeKit.model, seed: seed)
        let artifact = try rig.register(device)
        return try #require(rig.refresh(&device, artifact, limitedUse: true).tokenText)
    }

    @Test func `its tokens are refused at once, the other key's are not, and it signs no more`() throws {
        let other = try ExchangeKit.rs256("Other1", state: .published, key: ExchangeKit.otherRSA)
        let rig = try ExchangeRig(ExchangeKit.settings(keys: Self.rings([ExchangeKit.rs256(), other])))
        let old = try Self.token(rig)
        let next = try Self.rings([ExchangeKit.rs256("Other1", key: ExchangeKit.otherRSA)], revoked: ["Kx3_Qa"])
        #expect(try rig.replace(ExchangeKit.settings(keys: next)) == nil)
        #expect(try rig.send(.verification(of: old)).reason == "token-invalid")
        let new = try Self.token(rig, seed: 4)
        #expect(ExchangeToken(new)?.kid == "Other1")
        #expect(try rig.send(.verification(of: new)).verdict == "accepted")
        let set = try JSONDocument(parsing: next.tokens.jsonWebKeySet).root["keys"]
        #expect(set?.elements.map { $0["kid"]?.string } == ["Other1"])
    }

    @Test func `with the last active key revoked, exchanges are deferred, and its tokens are refused`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(keys: Self.rings([ExchangeKit.rs256()])))
        let old = try Self.token(rig)
        let challenge = try rig.challenge()
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.rings([], revoked: ["Kx3_Qa"]))) == nil)
        let fresh = FakeDevice(ExchangeKit.model, seed: 4)
        let answers = try rig.send(.attestation(of: fresh, challenge: challenge))
        #expect(answers.verdict == "deferred" && answers.reason == "no-active-key" && answers.code == 503)
        #expect(try rig.send(.verification(of: old)).reason == "token-invalid")
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.rings([]))) == nil)
        #expect(try rig.send(.verification(of: old)).reason == "no-active-key")
    }

    @Test func `a token of a key whose file a replay lacks is deferred, an unknown key's is refused`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(keys: Self.rings([ExchangeKit.rs256()])))
        let old = try Self.token(rig)
        let other = try ExchangeKit.rs256("Other1", key: ExchangeKit.otherRSA)
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.rings([other], absent: ["Kx3_Qa"]))) == nil)
        #expect(try rig.send(.verification(of: old)).reason == "no-active-key")
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.rings([other], absent: ["Another"]))) == nil)
        #expect(try rig.send(.verification(of: old)).reason == "token-invalid")
    }

    @Test func `requests sealed with an absent sealing or challenge key are deferred, others are refused`() throws {
        var (live, device, artifact) = try ExchangeRig.registered()
        let asserted = try live.assertion(of: &device, artifact)
        func summary(sealing: String, challenge: String) throws -> String? {
            var keys = try ExchangeKit.keys()
            keys.sealing = try ExchangeKit.ring([5], absent: [sealing])
            keys.challenges = try ExchangeKit.ring([6], absent: [challenge])
            var settings = try ExchangeKit.settings(keys: keys)
            settings.exchange.mints = false
            return try ExchangeRig(settings, isLive: false).send(asserted).summary
        }
        #expect(try summary(sealing: "key-1", challenge: "key-2") == "no-active-key")
        #expect(try summary(sealing: "key-9", challenge: "key-2") == "sealing-key-unknown")
    }
}
