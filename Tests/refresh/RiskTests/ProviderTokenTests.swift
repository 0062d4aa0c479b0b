internal import AppAttest
internal import Crypto
internal import JSON
internal import Risk
internal import TestKit
internal import Testing

@Suite("A team's token")
struct ProviderTokenTests {
    private static let team = "ABCDE12345"
    private static let life = ProviderToken.lifeMilliseconds
    private static let least = ProviderTokens.leastMilliseconds

    private let key: SigningKey

    init() throws { key = try SigningKey.generate(.p256) }

    private func providerKey(_ kid: String = "KEY1234567", _ other: SigningKey? = nil) throws -> ProviderKey {
        try #require(ProviderKey(team: Self.team, kid: kid, key: other ?? key))
    }

    private func parts(_ token: [UInt8]) -> [[UInt8]] { token.split(separator: 0x2E).map(Array.init) }

    private func json(_ part: [UInt8]) throws -> String {
        String(decoding: try #require(Base64.decode(part)), as: UTF8.self)
    }

    @Test func `it is a JWT as a provider's at APNs, signed by the team's key`() throws {
        let token = ProviderToken(try providerKey(), at: EvaluationTime(milliseconds: 1_700_000_000_999))
        let parts = parts(token.text)
        try #require(parts.count == 3)
        #expect(try json(parts[0]) == #"{"alg":"ES256","kid":"KEY1234567"}"#)
        #expect(try json(parts[1]) == #"{"iss":"ABCDE12345","iat":1700000000}"#)
        let signature = try #require(Base64.decode(parts[2]))
        #expect(signature.count == 64)
        #expect(key.publicKey.isValid(signature, of: parts[0] + [0x2E] + parts[1]))
        #expect(!key.publicKey.isValid(signature, of: parts[0] + [0x2E] + parts[0]))
        #expect(token.text.allSatisfy { $0 != 0x3D && $0 != 0x2B && $0 != 0x2F })
    }

    @Test func `names of a configuration are escaped`() throws {
        let odd = try #require(ProviderKey(team: #"A"B"#, kid: #"\"#, key: key))
        let parts = parts(ProviderToken(odd, at: Sample.start).text)
        #expect(try json(parts[0]) == #"{"alg":"ES256","kid":"\\"}"#)
        #expect(try json(parts[1]).hasPrefix(#"{"iss":"A\"B","#))
    }

    @Test func `a team has one token for 30 minutes, and another once the clock was set back`() throws {
        var tokens = ProviderTokens([try providerKey()])
        let first = try present(tokens.grant(Self.team, at: Sample.start))
        #expect(tokens.grant(Self.team, at: Sample.at(Self.life - 1)) == first)
        let second = try present(tokens.grant(Self.team, at: Sample.at(Self.life)))
        #expect(second.text != first.text)
        #expect(tokens.grant(Self.team, at: Sample.at(Self.life)) == second)
        #expect(tokens.grant("FGHIJ67890", at: Sample.start) == nil)
        #expect(tokens.grant(Self.team, at: Sample.at(-1_000)) != second)
    }

    @Test func `a reload by another key or kid makes another token, one by the same key does not`() throws {
        var tokens = ProviderTokens([try providerKey()])
        let first = tokens.grant(Self.team, at: Sample.start)
        tokens.reload([try providerKey()])
        #expect(tokens.grant(Self.team, at: Sample.start) == first)
        tokens.reload([try providerKey("KEY7654321")])
        let second = try present(tokens.grant(Self.team, at: Sample.start))
        #expect(second != first)
        let other = try SigningKey.generate(.p256)
        tokens.reload([try providerKey("KEY7654321", other)])
        let third = try present(tokens.grant(Self.team, at: Sample.start))
        let parts = parts(third.text)
        let signature = try #require(Base64.decode(parts[2]))
        #expect(third != second && other.publicKey.isValid(signature, of: parts[0] + [0x2E] + parts[1]))
        tokens.reload([])
        #expect(tokens.grant(Self.team, at: Sample.start) == nil)
    }

    @Test func `of a key that was never accepted a young token is replaced once`() throws {
        var tokens = ProviderTokens([try providerKey()])
        let first = try present(tokens.grant(Self.team, at: Sample.start))
        #expect(tokens.refuse(first) == false)
        let second = try present(tokens.grant(Self.team, at: Sample.start))
        #expect(second != first)
        // Calls that were under way with the first token.
        #expect(tokens.refuse(first) == false)
        #expect(tokens.grant(Self.team, at: Sample.start) == second)
        #expect(tokens.refuse(second) == true)
        #expect(tokens.grant(Self.team, at: Sample.start) == second)
    }

    @Test(arguments: [false, true])
    func `a refused token is replaced once it is 20 minutes old, accepted or not`(isAccepted: Bool) throws {
        var tokens = ProviderTokens([try providerKey()])
        var token = try present(tokens.grant(Self.team, at: Sample.start))
        if isAccepted {
            tokens.wasAccepted(token)
        } else {
            _ = tokens.refuse(token)
            token = try present(tokens.grant(Self.team, at: Sample.start))
        }
        #expect(tokens.refuse(token, at: Self.least - 1) == true)
        #expect(tokens.grant(Self.team, at: Sample.at(Self.least - 1)) == token)
        #expect(tokens.refuse(token, at: Self.least) == false)
        let next = try present(tokens.grant(Self.team, at: Sample.at(Self.least)))
        #expect(next != token)
        #expect(tokens.refuse(next, at: Self.least) == true)
    }

    @Test func `an older token of the same key speaks for it, one of another key does not`() throws {
        var tokens = ProviderTokens([try providerKey()])
        let old = try present(tokens.grant(Self.team, at: Sample.start))
        let second = try present(tokens.grant(Self.team, at: Sample.at(Self.life)))
        tokens.wasAccepted(old)
        #expect(tokens.refuse(second, at: Self.life) == true)
        tokens.reload([try providerKey("KEY7654321")])
        let third = try present(tokens.grant(Self.team, at: Sample.at(Self.life)))
        tokens.wasAccepted(second)
        #expect(tokens.refuse(third, at: Self.life) == false)
    }

    @Test func `a refused token of a team that is gone is more than used up`() throws {
        var tokens = ProviderTokens([try providerKey()])
        let first = try present(tokens.grant(Self.team, at: Sample.start))
        tokens.reload([])
        #expect(!tokens.hasKey(of: Self.team))
        #expect(tokens.refuse(first) == true)
    }

    @Test(
        arguments: [
            ("ABCDE12345.com.example", "ABCDE12345"), ("OLDPREFIX1.com.example", "FGHIJ67890"),
            ("FGHIJ67890.com.example", nil), ("ABCDE12345", nil), (".com.example", nil), ("", nil),
            ("abcde12345.com.example", nil),
        ] as [(String, String?)]
    )
    func `an app's prefix finds the team whose key speaks for it`(appID: String, team: String?) throws {
        let old = try #require(
            ProviderKey(team: "FGHIJ67890", kid: "K", key: key, appIDPrefixes: ["OLDPREFIX1"])
        )
        let tokens = ProviderTokens([try providerKey(), old])
        #expect(tokens.team(forAppID: appID) == team)
    }
}

extension ProviderTokens {
    fileprivate mutating func refuse(_ grant: Grant, at milliseconds: Int64 = 0) -> Bool {
        wasRefused(grant, at: Sample.at(milliseconds))
    }
}
