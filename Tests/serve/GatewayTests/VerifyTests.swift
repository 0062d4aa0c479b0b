import AppAttest
import AppCheck
import Gateway
import HTTP
import JSON
import TestKit
import Testing

@Suite struct VerifyTests {
    private static let project = "?project=\(ExchangeKit.projectNumber)"

    private func status(
        _ rig: GatewayRig,
        _ token: String?,
        _ headers: [(String, String)] = [],
        consumes: Bool = false,
        from peer: PeerAddress = GatewayRig.stranger
    )
        -> GatewayRig.Responder
    {
        let target = "/v1/verify\(Self.project)" + (consumes ? "&consume=1" : "")
        let token = token.map { [("x-firebase-appcheck", $0)] } ?? []
        return rig.call("GET", target, token + headers, from: peer)
    }

    @Test(arguments: [false, true])
    func `a genuine token passes, and names its app`(isLimitedUse: Bool) throws {
        let rig = try GatewayRig()
        let responder = status(rig, try Tokens.token(Tokens.claims(limitedUse: isLimitedUse)))
        #expect(responder.reply?.status == 200 && responder.reply?.value(of: "X-App-Check-App") == ExchangeKit.appID)
        #expect(rig.records.isEmpty)
    }

    @Test func `anything else gets 401, and is counted by its cause`() throws {
        let rig = try GatewayRig()
        let good = try Tokens.limitedUse()
        var subject = Tokens.claims(limitedUse: true)
        subject.subject = "1:1:ios:1"
        var issuer = Tokens.claims(limitedUse: true)
        issuer.projectNumber = "999999999999"
        let old = Tokens.claims(limitedUse: true, at: ExchangeKit.start - 301_000)
        let ahead = Tokens.claims(limitedUse: true, at: ExchangeKit.start + 61_000)
        let forged = String(good.dropLast(8)) + "AAAAAAAA"
        let made: [(TokenClaims, VerifyRefusal)] = [
            (subject, .app), (issuer, .claims), (old, .expired), (ahead, .ahead),
        ]
        let others: [(String?, VerifyRefusal)] = [
            (nil, VerifyRefusal.none), ("", .malformed), ("a.b.c", .malformed), (forged, .signature),
            (good + "A", .signature), (good + "=", .malformed),
        ]
        let tokens = try others + made.map { (try Tokens.token($0.0), $0.1) }
        for (token, cause) in tokens {
            let before = rig.gateway.counts.refusedTokens[cause] ?? 0
            #expect(status(rig, token).reply?.status == 401)
            #expect(rig.gateway.counts.refusedTokens[cause] == before + 1, "\(cause)")
        }
        #expect(status(rig, good, [("x-firebase-appcheck", good)]).reply?.status == 401)
        #expect(rig.gateway.counts.refusedTokens.values.reduce(0, +) == tokens.count + 1)
    }

    @Test(arguments: [("Kx3_Qa", VerifyRefusal.signature), ("other", .key)])
    func `a token of a key that is not in the set gets 401`(kid: String, cause: VerifyRefusal) throws {
        let rig = try GatewayRig()
        let other = try TokenKey(kid: kid, algorithm: .rs256, key: #require(ExchangeKit.otherRSA))
        let token = TokenMinter.mint(Tokens.claims(limitedUse: true), with: other)
        #expect(status(rig, String(decoding: token, as: UTF8.self)).reply?.status == 401)
        #expect(rig.gateway.counts.refusedTokens == [cause: 1])
    }

    @Test func `a token is used up over the topic, once, for those who prove who they are`() throws {
        let rig = try GatewayRig()
        let token = try Tokens.limitedUse()
        #expect(status(rig, token, consumes: true).reply?.status == 401)
        #expect(rig.requests.isEmpty && rig.gateway.counts.refusedTokens == [.credentials: 1])
        func consume(_ response: String?, _ refusal: Status = .ok) throws -> Int? {
            let responder = status(rig, token, GatewayRig.bearer, consumes: true)
            let sent = try #require(rig.requests.last)
            #expect(sent.key == Array("some-id".utf8))
            let root = try JSONDocument(parsing: sent.value).root
            #expect(root["path"]?.string == "v1beta/projects/123456789012:verifyAppCheckToken")
            #expect(root["body"]?["appCheckToken"]?.string == token)
            #expect(responder.reply == nil)
            rig.gateway.note(results: [rig.result(of: sent, refusal, response: response)])
            let id = String(decoding: GatewayRig.id(of: sent), as: UTF8.self)
            #expect(responder.reply?.value(of: "X-Request-Id") == id)
            return responder.reply?.status
        }
        #expect(try consume("{}") == 200)
        #expect(try consume(#"{"alreadyConsumed":true}"#) == 401)
        #expect(try consume(nil, Reason.tokenInvalid.status(appID: nil)) == 401)
        #expect(try consume(nil, Reason.tooOld.status(appID: nil)) == 503)
        // Each counts by its cause, and as the status that its caller saw.
        let counts = rig.gateway.counts
        #expect(counts.refusedTokens == [.credentials: 1, .consumed: 1, .verdict: 1])
        let answers = Dictionary(counts.answers.map { ($0.key.code, $0.value) }, uniquingKeysWith: +)
        #expect(answers == [200: 1, 401: 3, 503: 1])
    }

    /// A proxy hands on what its client wrote: whoever names a request gets its answer as often as it likes.
    @Test(
        arguments: [
            [("idempotency-key", "x")], [("x-request-id", "x")], [("idempotency-key", "x"), ("x-request-id", "x")],
        ],
        [GatewayRig.stranger, GatewayRig.proxy]
    )
    func `nothing that a client can write names the request that uses its token up`(
        headers: [(String, String)],
        peer: PeerAddress
    ) throws {
        let rig = try GatewayRig()
        let token = try Tokens.limitedUse()
        for _ in 0..<3 { _ = status(rig, token, GatewayRig.bearer + headers, consumes: true, from: peer) }
        let ids = rig.requests.map(GatewayRig.id)
        #expect(Set(ids).count == 3 && ids.allSatisfy { $0.count == 32 })
    }

    @Test(arguments: ["/v1/jwks", "/v1beta/jwks"])
    func `the key set is served as it stands in its file`(path: String) throws {
        let rig = try GatewayRig()
        let responder = rig.call("GET", path)
        #expect(responder.reply?.body == (try ExchangeKit.keys().tokens.jsonWebKeySet))
        #expect(responder.reply?.value(of: "Cache-Control") == "public, max-age=21600")
    }
}
