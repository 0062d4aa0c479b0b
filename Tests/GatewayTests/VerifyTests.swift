import AppAttest
import AppCheck
import Gateway
import HTTP
import JSON
import TestKit
import Testing

@Suite struct VerifyTests {
    private func status(
        _ rig: GatewayRig,
        _ token: String?,
        _ headers: [(String, String)] = [],
        query: String = ""
    )
        -> GatewayRig.Responder
    {
        rig.call("GET", "/v1/verify" + query, (token.map { [("x-firebase-appcheck", $0)] } ?? []) + headers)
    }

    @Test(arguments: [false, true])
    func `a genuine token passes, and names its app`(isLimitedUse: Bool) throws {
        let rig = try GatewayRig()
        let responder = status(rig, try Tokens.token(Tokens.claims(limitedUse: isLimitedUse)))
        #expect(responder.reply?.status == 200)
        let headers = try #require(responder.reply?.headers)
        #expect(headers.contains { $0.name == "X-App-Check-App" && $0.value == ExchangeKit.appID })
        #expect(rig.records.isEmpty)
    }

    @Test func `anything else gets 401`() throws {
        let rig = try GatewayRig()
        let good = try Tokens.limitedUse()
        var subject = Tokens.claims(limitedUse: true)
        subject.subject = "1:1:ios:1"
        var issuer = Tokens.claims(limitedUse: true)
        issuer.projectNumber = "999999999999"
        let old = Tokens.claims(limitedUse: true, at: ExchangeKit.start - 301_000)
        let ahead = Tokens.claims(limitedUse: true, at: ExchangeKit.start + 60_000)
        let tokens =
            try [nil, "", "a.b.c", String(good.dropLast(8)) + "AAAAAAAA", good + "A"]
            + [subject, issuer, old, ahead].map { try Tokens.token($0) }
        for token in tokens { #expect(status(rig, token).reply?.status == 401) }
        #expect(status(rig, good, [("x-firebase-appcheck", good)]).reply?.status == 401)
    }

    @Test func `a token of a key that is not in the set gets 401`() throws {
        let rig = try GatewayRig()
        let other = try TokenKey(kid: "Kx3_Qa", algorithm: .rs256, key: #require(ExchangeKit.otherRSA))
        let token = TokenMinter.mint(Tokens.claims(limitedUse: true), with: other)
        #expect(status(rig, String(decoding: token, as: UTF8.self)).reply?.status == 401)
    }

    @Test func `a token is used up over the topic, once, for those who prove who they are`() throws {
        let rig = try GatewayRig()
        let token = try Tokens.limitedUse()
        #expect(status(rig, token, query: "?consume=1").reply?.status == 401)
        #expect(rig.requests.isEmpty)
        func consume(_ response: String?, _ refusal: Status = .ok) throws -> Int? {
            let responder = status(rig, token, GatewayRig.bearer, query: "?consume=1")
            let sent = try #require(rig.requests.last)
            #expect(sent.key == Array("some-id".utf8))
            let root = try JSONDocument(parsing: sent.value).root
            #expect(root["path"]?.string == "v1beta/projects/123456789012:verifyAppCheckToken")
            #expect(root["body"]?["appCheckToken"]?.string == token)
            #expect(responder.reply == nil)
            rig.gateway.note(results: [rig.result(of: sent, refusal, response: response)])
            return responder.reply?.status
        }
        #expect(try consume("{}") == 200)
        #expect(try consume(#"{"alreadyConsumed":true}"#) == 401)
        #expect(try consume(nil, Reason.tokenInvalid.status(appID: nil)) == 401)
        #expect(try consume(nil, Reason.tooOld.status(appID: nil)) == 503)
    }

    @Test func `consume=0 uses nothing up`() throws {
        let rig = try GatewayRig()
        #expect(status(rig, try Tokens.limitedUse(), query: "?consume=0").reply?.status == 200)
        #expect(rig.requests.isEmpty)
    }

    @Test func `verifyAppCheckToken answers as Google's SDKs read it`() throws {
        let rig = try GatewayRig()
        for (response, body) in [("{}", "{}"), (#"{"alreadyConsumed":true}"#, #"{"alreadyConsumed":true}"#)] {
            let responder = try rig.send(.verification(of: try Tokens.limitedUse()), GatewayRig.bearer)
            rig.gateway.note(results: [rig.result(of: try #require(rig.requests.last), response: response)])
            #expect(responder.reply?.status == 200)
            #expect(responder.body == body)
        }
    }

    @Test(arguments: ["/v1/jwks", "/v1beta/jwks"])
    func `the key set is served as it stands in its file`(path: String) throws {
        let rig = try GatewayRig()
        let responder = rig.call("GET", path)
        #expect(responder.reply?.body == (try ExchangeKit.keys().tokens.jsonWebKeySet))
        let headers = try #require(responder.reply?.headers)
        #expect(headers.contains { $0.name == "Cache-Control" && $0.value == "public, max-age=21600" })
    }

    @Test func `a reload takes effect with the next call`() throws {
        let rig = try GatewayRig()
        let path = "/v1/\(ExchangeKit.resource):generateAppAttestChallenge"
        #expect(rig.call("POST", path).reply?.status == 200)
        rig.gateway.replace(try GatewayRig.rules(app: { $0.apiKeys = ["k"] }))
        #expect(rig.call("POST", path).reply?.status == 401)
    }
}
