import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import TestKit
import Testing

/// verifyAppCheckToken of session tokens: what each app says of them, and how many are remembered.
@Suite struct SessionTokenUseTests {
    /// A token of the worker's own key with a life of so many seconds.
    private static func made(life: Int64, at time: Int64, _ id: String) throws -> String {
        let claims = TokenClaims(
            subject: ExchangeKit.appID,
            projectNumber: ExchangeKit.projectNumber,
            projectID: ExchangeKit.projectID,
            issuedAt: time / 1000,
            expiresAt: time / 1000 + life,
            id: id
        )
        return String(decoding: TokenMinter.mint(claims, with: try ExchangeKit.rs256()), as: UTF8.self)
    }

    @Test func `a session token is consumed once, and remembered until it expires, over restarts too`() throws {
        var bench = try TokenBench { $0.tokens.ttlMilliseconds = 604_800_000 }
        let token = try bench.token()
        let first = ExchangeRequest.verification(of: token).with(id: "v1")
        #expect(try bench.rig.send(first).isConsumed == false)
        #expect(try bench.rig.send(.verification(of: token)).isConsumed == true)
        #expect(bench.rig.loop.tally.sessionTokensUsed == 1)
        bench.rig.time += 604_799_000
        try bench.rig.restart()
        #expect(try bench.rig.send(.verification(of: token)).isConsumed == true)
        #expect(try bench.rig.send(first).isConsumed == false)
        bench.rig.time += 1_000
        #expect(try bench.rig.send(.verification(of: token)).reason == "token-invalid")
        bench.rig.time += 20_000
        _ = try bench.rig.challenge()
        #expect(bench.rig.loop.ledgers[0]?.tokens.count == 0)
    }

    @Test(arguments: [true, false])
    func `if the app says so, or shares its session tokens, they are refused with their own reason`(
        isShared: Bool
    ) throws {
        var bench = try TokenBench { app in
            if isShared { app.tokens.sharedSessionTokens = true } else { app.tokens.sessionTokens = .refuse }
        }
        let answers = try bench.rig.send(.verification(of: bench.token()))
        #expect(answers.reason == "session-token" && answers.code == 403 && answers.event == nil)
        #expect(answers.result?["status"]?["status"]?.string == "PERMISSION_DENIED")
        #expect(bench.rig.loop.ledgers[0]?.tokens.count == 0)
        #expect(try bench.rig.send(.verification(of: bench.token(limitedUse: true))).isConsumed == false)
    }

    @Test func `the app of the token's subject decides, for its OAuth clients too`() throws {
        let client = "oauthClients/\(ExchangeKit.client)"
        for policy in SessionTokenPolicy.allCases {
            let rig = try ExchangeRig(ExchangeKit.settings { $0.tokens.sessionTokens = policy })
            var (own, other) = (FakeDevice(ExchangeKit.model, seed: 3), FakeDevice(ExchangeKit.model, seed: 4))
            let artifact = try rig.register(own, resource: client)
            let clients = try #require(rig.refresh(&own, artifact, resource: client).tokenText)
            #expect(
                try rig.send(.verification(of: clients)).summary == (policy == .accept ? "accepted" : "session-token")
            )
            let foreign = try rig.register(other, resource: ExchangeKit.otherResource)
            let others = try #require(rig.refresh(&other, foreign, resource: ExchangeKit.otherResource).tokenText)
            #expect(try rig.send(.verification(of: others)).summary == "accepted")
        }
    }

    @Test(arguments: [299, 301, 1799, 604_801, Int64.max - 2_000_000_000])
    func `a token life outside the session range is invalid, even with a valid signature`(life: Int64) throws {
        let rig = try ExchangeRig(ExchangeKit.settings())
        func summary(_ life: Int64) throws -> String? {
            try rig.send(.verification(of: Self.made(life: life, at: rig.time, "made-\(life)"))).summary
        }
        #expect(try summary(life) == "token-invalid")
        #expect(try summary(1800) == "accepted" && summary(604_800) == "accepted")
    }

    @Test func `beyond the limit a session token is refused, not forgotten; limited-use tokens are accepted`() throws {
        var bench = try TokenBench(limit: 2)
        let tokens = try (0..<3).map { _ in try bench.token() }
        let answers = try bench.rig.send(tokens.map { .verification(of: $0) })
        #expect(answers.map(\.summary) == ["accepted", "accepted", "session-token"])
        #expect(bench.rig.loop.tally.sessionTokensUsed == 2 && bench.rig.loop.tally.sessionTokensOverLimit == 1)
        #expect(try bench.rig.send(.verification(of: tokens[0])).isConsumed == true)
        #expect(try bench.rig.send(.verification(of: bench.token(limitedUse: true))).isConsumed == false)
        // As soon as one expires there is room again.
        bench.rig.time += 3_600_000 + 10_000
        #expect(try bench.rig.send(.verification(of: bench.token())).isConsumed == false)
    }

    @Test func `at the limit no answer depends on where batches end`() throws {
        func summaries(_ most: Int) throws -> [String?] {
            var settings = try ExchangeKit.settings()
            settings.limits.sessionTokens = 3
            let rig = try ExchangeRig(settings)
            // Some consumed tokens have expired when the rest arrives.
            let times = (0..<12).map { 7_000 * Int64($0) } + (0..<6).map { 1_800_000 + 9_000 * Int64($0) }
            let requests = try times.enumerated().map { index, time in
                let token = try Self.made(life: index % 4 == 3 ? 300 : 1800, at: ExchangeKit.start + time, "t\(index)")
                return ExchangeRequest.verification(of: token).at(ExchangeKit.start + time)
            }
            rig.time += 2_000_000
            rig.streams.mostRecords = most
            return try rig.send(requests).map(\.summary)
        }
        let expected = try summaries(.max)
        for most in [1, 2, 3, 7] { #expect(try summaries(most) == expected) }
        #expect(Set(expected) == ["accepted", "session-token"])
    }
}
