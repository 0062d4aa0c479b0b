import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import TestKit
import Testing

/// One signature for the session tokens of one app, subject and second, where the app asks for it.
@Suite struct SharedTokenTests {
    private struct Bench {
        let rig: ExchangeRig
        var devices: [(device: FakeDevice, artifact: [UInt8])]

        init(shares: Bool) throws {
            // ES256 signs with fresh randomness: two equal texts are one signature.
            rig = try ExchangeRig(
                ExchangeKit.settings { $0.tokens = TokenSettings(algorithm: .es256, sharedSessionTokens: shares) }
            )
            devices = try rig.register(0..<3)
        }

        /// A token for each device, in one batch.
        mutating func tokens(limitedUse: Bool = false, resource: String = ExchangeKit.resource) throws -> [String] {
            let requests = try rig.assertions(of: &devices, limitedUse: limitedUse, resource: resource)
            return try rig.send(requests).compactMap(\.tokenText)
        }
    }

    @Test func `session tokens of the same second are one token, the next second has another`() throws {
        var bench = try Bench(shares: true)
        let first = try bench.tokens()
        #expect(first.count == 3 && Set(first).count == 1)
        bench.rig.time += 1000
        let next = try bench.tokens()
        #expect(Set(next).count == 1 && next[0] != first[0])
        let ids = [first[0], next[0]].compactMap { ExchangeToken($0)?.id }
        #expect(Set(ids).count == 2)
    }

    @Test func `limited-use tokens are never shared, and are consumed one by one`() throws {
        var bench = try Bench(shares: true)
        let tokens = try bench.tokens(limitedUse: true)
        #expect(Set(tokens.compactMap { ExchangeToken($0)?.id }).count == 3)
        let answers = try bench.rig.send(tokens.map { .verification(of: $0) })
        #expect(answers.allSatisfy { $0.verdict == "accepted" && $0.result?["response"]?["alreadyConsumed"] == nil })
    }

    @Test func `another subject has its own token`() throws {
        var bench = try Bench(shares: true)
        let app = try bench.tokens()
        let client = try bench.tokens(resource: "oauthClients/\(ExchangeKit.client)")
        #expect(Set(app + client).count == 2)
        #expect(ExchangeToken(client[0])?.subject == ExchangeKit.client)
    }

    @Test func `without the setting no token is shared`() throws {
        var bench = try Bench(shares: false)
        #expect(try Set(bench.tokens().compactMap { ExchangeToken($0)?.id }).count == 3)
    }

    @Test func `a duplicate's shared token has the same id and end in another worker too`() throws {
        var bench = try Bench(shares: true)
        let artifact = bench.devices[0].artifact
        let request = try bench.rig.assertion(of: &bench.devices[0].device, artifact).with(id: "r1")
        let first = try #require(bench.rig.send(request).token)
        bench.rig.time += 70_000
        try bench.rig.restart()
        let again = try bench.rig.send(request)
        #expect(again.isDuplicate)
        #expect(again.token?.id == first.id && again.token?.expiresAt == first.expiresAt)
        #expect(again.ttl == "3529.750s")
    }
}
