import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import TestKit
import Testing

/// `iat` where the worker's clock and the broker's differ.
@Suite struct MintTimeTests {
    /// A session token of a request whose record time lies so far from the worker's clock, in milliseconds.
    private static func token(_ rig: ExchangeRig, recordBehind apart: Int64) throws -> (String, ExchangeToken) {
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let challenge = try #require(rig.send(ExchangeRequest.challenge().at(rig.time - max(apart, 0))).challenge)
        let request = ExchangeRequest.attestation(of: device, challenge: challenge, limitedUse: true)
        let text = try #require(rig.send(request.at(rig.time - apart)).tokenText)
        return (text, try #require(ExchangeToken(text)))
    }

    @Test(
        arguments: [
            (0, 0), (1_500, -1_500), (5_000, -5_000), (5_001, 0), (60_000, 0), (-1_500, 0), (-5_000, 0), (-60_000, 0),
        ] as [(Int64, Int64)]
    )
    func `iat is the earlier of clock and record if they are within five seconds, otherwise the clock's`(
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

    @Test(arguments: [(8_000, "accepted"), (10_000, "accepted"), (11_000, "token-invalid")] as [(Int64, String)])
    func `an iat ahead of the record is accepted up to ten seconds`(ahead: Int64, expected: String) throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        // Too far apart for one moment: iat is the worker's clock.
        let text = try Self.token(rig, recordBehind: 20_000).0
        let moment = rig.time / 1000 * 1000 - ahead
        #expect(try rig.send(ExchangeRequest.verification(of: text).at(moment)).summary == expected)
    }

    @Test func `in replay iat is the record's time, whatever the difference`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(), isLive: false)
        let token = try Self.token(rig, recordBehind: 60_000).1
        #expect(token.issuedAt == (rig.time - 60_000) / 1000)
    }
}
