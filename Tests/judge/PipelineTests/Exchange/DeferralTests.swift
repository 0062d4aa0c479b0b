import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite struct DeferralTests {
    enum Missing: CaseIterable, Sendable { case signing, sealing, challenge, published, algorithm }

    private static func keys(without missing: Missing) throws -> KeyRings {
        switch missing {
        case .signing: try ExchangeKit.keys(tokens: [])
        case .sealing: try ExchangeKit.keys(sealing: [])
        case .challenge: try ExchangeKit.keys(challenges: [])
        case .published: try ExchangeKit.keys(tokens: [ExchangeKit.rs256(state: .published)])
        case .algorithm: try ExchangeKit.keys(tokens: [ExchangeKit.es256()])
        }
    }

    private static func isDeferred(_ answers: ExchangeAnswers) -> Bool {
        answers.verdict == "deferred" && answers.reason == "no-active-key" && answers.code == 503
            && answers.result?["status"]?["status"]?.string == "UNAVAILABLE"
            && answers.answer == nil && answers.event == nil
    }

    @Test(arguments: Missing.allCases)
    func `without an active key of a kind exchanges are deferred, with no change and no event`(missing: Missing) throws
    {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let (record, writes) = (rig.key(device), rig.streams.ledger.count)
        let requests = [
            try rig.attestation(of: FakeDevice(ExchangeKit.model, seed: 4)).with(id: "a"),
            try rig.assertion(of: &device, artifact).with(id: "b"),
        ]
        // A new worker: a running one would refuse to drop the sealing keys.
        let without = try ExchangeRig(ExchangeKit.settings(keys: Self.keys(without: missing)))
        let answers = try without.send(requests)
        #expect(Self.isDeferred(answers[0]))
        #expect(Self.isDeferred(answers[1]))
        #expect(without.streams.ledger.isEmpty)
        if missing == .challenge { #expect(try Self.isDeferred(without.send(.challenge()))) }
        // The same requests are accepted as soon as there are keys: a deferral uses nothing up.
        #expect(try rig.send(requests).map(\.summary) == ["accepted", "accepted"])
        #expect(rig.key(device) != record && rig.streams.ledger.count > writes)
    }

    @Test func `without a signing key a token cannot be distinguished from a forgery: its check is deferred`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let token = try #require(rig.refresh(&device, artifact, limitedUse: true).tokenText)
        let check = ExchangeRequest.verification(of: token).with(id: "v")
        let full = rig.settings
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.keys(without: .signing))) == nil)
        #expect(try Self.isDeferred(rig.send(check)))
        #expect(try rig.replace(full) == nil)
        #expect(try rig.send(check).verdict == "accepted")
        // A key that is only published is enough; for a duplicate the ledger is enough.
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.keys(without: .published))) == nil)
        #expect(try rig.send(check.with(id: "w")).result?["response"]?["alreadyConsumed"]?.bool == true)
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.keys(without: .signing))) == nil)
        #expect(try rig.send(check).isDuplicate)
    }

    @Test(arguments: [Missing.signing, .published, .algorithm])
    func `a duplicate whose token cannot be minted is deferred, not accepted without one`(missing: Missing) throws {
        var (rig, device) = try ExchangeRig.fresh()
        let attested = try rig.attestation(of: device).with(id: "a")
        let artifact = try #require(rig.send(attested).artifact)
        let asserted = try rig.assertion(of: &device, artifact).with(id: "b")
        let full = rig.settings
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.keys(without: missing))) == nil)
        #expect(try Self.isDeferred(rig.send(attested)))
        #expect(try rig.replace(full) == nil)
        let first = try rig.send(asserted)
        #expect(try rig.replace(ExchangeKit.settings(keys: Self.keys(without: missing))) == nil)
        #expect(try Self.isDeferred(rig.send(asserted)))
        #expect(try rig.replace(full) == nil)
        let again = try rig.send(asserted)
        #expect(again.isDuplicate && again.tokenText == first.tokenText)
    }

    @Test func `an app that signs with ES256 needs no RS256 key`() throws {
        let keys = try ExchangeKit.keys(tokens: [ExchangeKit.es256()])
        let settings = try ExchangeKit.settings(keys: keys) { $0.tokens.algorithm = .es256 }
        var (rig, device, artifact) = try ExchangeRig.registered(settings)
        let token = try #require(rig.refresh(&device, artifact).token)
        #expect(token.header["alg"]?.string == "ES256")
        #expect(token.isSigned(by: keys.tokens))
    }

    @Test func `a replay that does not mint judges everything and writes no answer`() throws {
        let live = try ExchangeRig(ExchangeKit.settings())
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let challenge = try live.challenge()
        let attested = ExchangeRequest.attestation(of: device, challenge: challenge)
        let artifact = try #require(live.send(attested).artifact)
        let asserted = try live.assertion(of: &device, artifact)
        let forged = ExchangeRequest.assertion(
            of: &device,
            artifact: artifact,
            challenge: challenge,
            fault: .signatureFlipped
        )
        var settings = try ExchangeKit.settings(keys: ExchangeKit.keys(tokens: []))
        settings.exchange.mints = false
        settings.exchange.partitions = 0
        settings.sharesLedger = true
        settings.partitionOfKey = nil
        let replay = try ExchangeRig(settings, isLive: false)
        let answers = try replay.send([.challenge(), attested, asserted, forged, attested])
        #expect(
            answers.map(\.summary) == [
                "accepted", "accepted", "accepted", "challenge-consumed", "challenge-consumed",
            ]
        )
        #expect(answers.allSatisfy { $0.answer == nil })
        #expect(answers.compactMap(\.eventName).count == 4)
        #expect(replay.key(device)?.counter == 1)
    }

    @Test func `a replay that mints gives the same bytes twice`() throws {
        func run() throws -> [OutboundRecord] {
            var settings = try ExchangeKit.settings()
            settings.exchange.randomBytes = nil
            settings.exchange.partitions = 0
            let rig = try ExchangeRig(settings, isLive: false)
            var device = FakeDevice(ExchangeKit.model, seed: 3)
            let artifact = try rig.register(device)
            _ = try rig.refresh(&device, artifact)
            return rig.streams.outputs
        }
        let (first, second) = (try run(), try run())
        #expect(first == second)
        #expect(first.filter { $0.stream == .tokens }.count == 4)
    }
}
