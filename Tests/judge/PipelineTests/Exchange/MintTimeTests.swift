import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import TestKit
import Testing

/// `iat` where the worker's clock and the broker's differ.
@Suite struct MintTimeTests {
    /// A session token of a request whose record time lies so far from the worker's clock, in milliseconds.
    private static func token(_ rig: ExchangeRig, recordBehind apart: Int64) throws -> (String, ExchangeToken) {
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        rig.hasLogAppendTime = true
        let challenge = try #require(rig.send(ExchangeRequest.challenge().at(rig.time - max(apart, 0))).challenge)
        let request = ExchangeRequest.attestation(of: device, challenge: challenge, limitedUse: true)
        let text = try #require(rig.send(request.at(rig.time - apart)).tokenText)
        return (text, try #require(ExchangeToken(text)))
    }

    @Test(
        arguments: [
            (0, 0), (1_500, -1_500), (5_000, -5_000), (5_001, -5_001), (60_000, -60_000), (-1_500, 0), (-5_000, 0),
            (-60_000, 0), (61_000, -61_000), (3_600_000, -60_000),
        ] as [(Int64, Int64)]
    )
    func `iat is the earlier of clock and newest record, though not much more than a minute before the clock`(
        behind: Int64,
        expected: Int64
    ) throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let token = try Self.token(rig, recordBehind: behind).1
        let iat = (rig.time + expected) / 1000
        #expect(token.issuedAt == iat && token.expiresAt == iat + 300)
    }

    @Test func `a leeway makes a token valid for a verifier that is behind by more than ten seconds`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings { $0.tokens.leewayMilliseconds = 30_000 })
        let (text, token) = try Self.token(rig, recordBehind: 0)
        let iat = rig.time / 1000 - 30
        #expect(token.issuedAt == iat && token.expiresAt == iat + 300)
        let behind = ExchangeRequest.verification(of: text).at(rig.time / 1000 * 1000 - 40_000)
        #expect(try rig.send(behind).summary == "accepted")
    }

    @Test func `a token of a worker ahead is valid at once for a backend's record with the broker's time`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let text = try Self.token(rig, recordBehind: 1_500).0
        #expect(try rig.send(ExchangeRequest.verification(of: text).at(rig.time - 1_500)).verdict == "accepted")
    }

    @Test(arguments: [8_000, 45_000, 600_000] as [Int64])
    func `iat is the brokers' time where these tell when they append what a worker writes, and ttl is not longer`(
        ahead: Int64
    ) throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        let broker = rig.time
        rig.ahead = ahead
        (rig.hasLogAppendTime, rig.streams.appendTime) = (true, broker)
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let challenge = try #require(rig.send(ExchangeRequest.challenge().at(broker)).challenge)
        if ahead > 60_000 {
            // The challenge's commit has shown it: nothing is judged until the clock is set.
            #expect(rig.loop.clockDoubt?.kind == .ahead)
            rig.ahead = 0
        }
        let request = ExchangeRequest.attestation(of: device, challenge: challenge, limitedUse: true)
        let answers = try rig.send(request.at(broker - 30_000))
        let token = try #require(answers.tokenText.flatMap { ExchangeToken($0) })
        #expect(token.issuedAt == broker / 1000)
        let ttl = try #require(answers.answer?["appCheckToken"]?["ttl"]?.string.flatMap { Double($0.dropLast()) })
        #expect(ttl <= 300 && ttl >= 300 - 46)
        #expect(rig.loop.clockDoubt == nil)
    }

    @Test func `in replay iat is the record's time, whatever the difference`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(), isLive: false)
        let token = try Self.token(rig, recordBehind: 60_000).1
        #expect(token.issuedAt == (rig.time - 60_000) / 1000)
    }
}
