import AppAttest
import DeviceLab
import JSON
import TestKit
import Testing

/// Answers, read as strictly as the SDK reads them.
@Suite struct StockAnswerTests {
    /// A client that waits for the answer to its call of that kind.
    private func waiting(_ kind: StockCall.Kind) throws -> (client: StockClient, call: StockCall) {
        let isHandshake = kind == .challengeForAttestation || kind == .attestation
        var client = isHandshake ? StockServer.client() : StockServer.registered()
        var reply = client.want(limitedUse: true, at: Lab.noon)
        if reply.call?.kind != kind {
            reply = client.answer(status: 200, body: StockServer.challengeAnswer, at: Lab.noon)
        }
        #expect(reply.call?.kind == kind)
        return (client, try #require(reply.call))
    }

    /// How a client reads an answer to its call of that kind.
    private func outcome(_ kind: StockCall.Kind, _ body: String) throws -> StockReply {
        var client = try waiting(kind).client
        return client.answer(status: 200, body: Array(body.utf8), at: Lab.noon)
    }

    @Test(arguments: ["responseV1", "responseV1beta"])
    func `the client reads the contract's golden answers`(_ version: String) throws {
        let name: StaticString = version == "responseV1" ? "responseV1" : "responseV1beta"
        let challenge = try #require(FirebaseContract.node("methods", "generateAppAttestChallenge", "response"))
        let attestation = try #require(FirebaseContract.node("methods", "exchangeAppAttestAttestation")?[name])
        let assertion = try #require(FirebaseContract.node("methods", "exchangeAppAttestAssertion")?[name])
        var client = StockServer.client()
        _ = client.want(limitedUse: false, at: Lab.noon)
        _ = client.answer(status: 200, body: challenge.writtenText, at: Lab.noon)
        let first = client.answer(status: 200, body: attestation.writtenText, at: Lab.noon)
        let token = try #require(first.outcomes.first?.newToken)
        #expect(token.text == FirebaseContract.text(attestation["appCheckToken"], "token"))
        #expect(token.expiresAt == Lab.noon + 3_600_000)
        _ = client.want(limitedUse: true, at: Lab.noon)
        let exchange = client.answer(status: 200, body: challenge.writtenText, at: Lab.noon)
        let call = try #require(exchange.call)
        let artifact = attestation["artifact"]?.base64Bytes
        #expect(StockServer.body(call)?["artifact"]?.base64Bytes == artifact && artifact != nil)
        let last = client.answer(status: 200, body: assertion.writtenText, at: Lab.noon)
        let limited = try #require(last.outcomes.first?.newToken)
        #expect(limited.expiresAt == Lab.noon + 300_000 && limited.isLimitedUse)
    }

    @Test(
        arguments: [
            ("{\"challenge\":\"+/8=\"}", true), ("{\"challenge\":\"\\u002b\\/8=\",\"ttl\":7}", true),
            ("{\"challenge\":\"-_8=\"}", false), ("{\"challenge\":\"+/8\"}", false),
            ("{\"challenge\":\"+/ 8=\"}", false),
            ("{\"challenge\":\"+/8=\\n\"}", false), ("{\"challenge\":7}", false), ("{\"challenge\":null}", false),
            ("{\"challenge\":[]}", false), ("{}", false), ("[]", false), ("", false), ("\"+/8=\"", false), ("{", false),
        ]
    )
    func `a challenge must be strict, standard, padded base64; its ttl does not matter`(
        _ body: String,
        _ isRead: Bool
    ) throws {
        for kind in [StockCall.Kind.challengeForAttestation, .challengeForAssertion] {
            let reply = try outcome(kind, body)
            #expect((reply.call != nil) == isRead)
            #expect(reply.isUnreadable == !isRead)
        }
    }

    @Test(
        arguments: [
            ("\"3600s\"", 3_600_000), ("\"3600\"", 3_600_000), ("\"0.25s\"", 250), ("\"3.5s\"", 3500),
            ("\" 7s\"", 7000), ("\"7sx\"", 7000), ("\"1e2s\"", 100_000), ("\"-5s\"", -5000), ("\"7-\"", 7000),
            ("\"1e999s\"", 3_155_760_000_000), ("3600", nil), ("3600.5", nil), ("null", nil), ("[\"3600s\"]", nil),
            ("\"0s\"", nil), ("\"s\"", nil), ("\"\"", nil), ("\"x7s\"", nil), ("\"nan\"", nil), ("true", nil),
        ] as [(String, Int64?)]
    )
    func `a ttl is a string of seconds followed by an s; 0 means none`(_ ttl: String, _ milliseconds: Int64?) throws {
        let body = "{\"token\":\"t\",\"ttl\":\(ttl)}"
        let inside = "{\"artifact\":\"AQ==\",\"appCheckToken\":\(body)}"
        for (kind, body) in [(StockCall.Kind.assertion, body), (.attestation, inside)] {
            let reply = try outcome(kind, body)
            #expect(reply.outcomes.first?.newToken?.expiresAt == milliseconds.map { Lab.noon + $0 })
            #expect(reply.isUnreadable == (milliseconds == nil))
        }
    }

    @Test(
        arguments: [
            (.assertion, "{\"ttl\":\"3600s\"}"), (.assertion, "{\"token\":7,\"ttl\":\"3600s\"}"),
            (.assertion, "{\"token\":null,\"ttl\":\"3600s\"}"), (.assertion, "{\"token\":\"t\"}"), (.assertion, "[]"),
            (.assertion, "{\"appCheckToken\":{\"token\":\"t\",\"ttl\":\"3600s\"}}"),
            (.attestation, "{\"token\":\"t\",\"ttl\":\"3600s\"}"), (.attestation, "{\"artifact\":\"AQ==\"}"),
            (.attestation, "{\"appCheckToken\":{\"token\":\"t\",\"ttl\":\"3600s\"}}"),
            (.attestation, "{\"artifact\":\"AQ\",\"appCheckToken\":{\"token\":\"t\",\"ttl\":\"3600s\"}}"),
            (.attestation, "{\"artifact\":\"-_8=\",\"appCheckToken\":{\"token\":\"t\",\"ttl\":\"3600s\"}}"),
            (.attestation, "{\"artifact\":7,\"appCheckToken\":{\"token\":\"t\",\"ttl\":\"3600s\"}}"),
            (.attestation, "{\"artifact\":\"AQ==\",\"appCheckToken\":\"t\"}"),
            (.attestation, "{\"artifact\":\"AQ==\",\"appCheckToken\":{\"ttl\":\"3600s\"}}"),
        ] as [(StockCall.Kind, String)]
    )
    func `a token is a string, an artifact strict base64, appCheckToken an object`(
        _ kind: StockCall.Kind,
        _ body: String
    ) throws {
        #expect(try outcome(kind, body).isUnreadable)
    }

    @Test func `an attestation answer that cannot be read registers nothing`() {
        var client = StockServer.client()
        _ = client.want(limitedUse: false, at: Lab.noon)
        _ = client.answer(status: 200, body: StockServer.challengeAnswer, at: Lab.noon)
        let body = Array("{\"artifact\":\"AQ==\",\"appCheckToken\":{\"token\":\"t\",\"ttl\":3600}}".utf8)
        _ = client.answer(status: 200, body: body, at: Lab.noon)
        #expect(!client.isRegistered && client.keysMade == 1)
        #expect(client.want(limitedUse: false, at: Lab.noon).call?.kind == .challengeForAttestation)
    }

    @Test(arguments: StockCall.Kind.allCases)
    func `damaged answers never trap`(_ kind: StockCall.Kind) throws {
        let (ready, call) = try waiting(kind)
        let good = StockServer.success(call)
        for place in good.indices {
            var (cut, broken) = (ready, ready)
            var body = good
            body[place] = 0
            let short = cut.answer(status: 200, body: Array(good[..<place]), at: Lab.noon)
            // A control character.
            let damaged = broken.answer(status: 200, body: body, at: Lab.noon)
            try #require(short.isUnreadable && damaged.isUnreadable, "byte \(place)")
        }
    }
}
