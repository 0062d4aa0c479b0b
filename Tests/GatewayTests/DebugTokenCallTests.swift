import AppAttest
import AppCheck
import Gateway
import HTTP
import JSON
import TestKit
import Testing

@Suite struct DebugTokenCallTests {
    private static func rig() throws -> GatewayRig {
        let token = try ExchangeKit.debugToken()
        return try GatewayRig(app: { $0.debugTokens = [token] })
    }

    /// As AppCheckCore writes it.
    private static let body = Array(#"{"debug_token":"\#(ExchangeKit.debugSecret)","limited_use":false}"#.utf8)
    private static let path = "/v1/\(ExchangeKit.resource.replacing(":", with: "%3A")):exchangeDebugToken?key=x"

    @Test func `a call becomes a request without a key of its own, and its token is the reply`() throws {
        let rig = try Self.rig()
        let responder = rig.call("POST", Self.path, body: Self.body)
        let request = try #require(rig.requests.first)
        let root = try JSONDocument(parsing: request.value).root
        #expect(root["path"]?.string == "v1/\(ExchangeKit.resource):exchangeDebugToken")
        #expect(root["body"]?["debug_token"]?.string == ExchangeKit.debugSecret)
        rig.gateway.note(results: [rig.result(of: request)])
        rig.gateway.note(tokens: [rig.token(of: request, #"{"token":"t","ttl":"3600s"}"#)])
        #expect(responder.reply?.status == 200 && responder.body == #"{"token":"t","ttl":"3600s"}"#)
    }

    @Test func `the eleventh call of an app in a minute gets 429 and leaves no request, until the next minute`() throws
    {
        let rig = try Self.rig()
        for _ in 0..<10 { rig.call("POST", Self.path, body: Self.body) }
        #expect(rig.requests.count == 10)
        let late = rig.call("POST", Self.path, body: Self.body)
        #expect(late.reply?.status == 429 && late.body.contains("RESOURCE_EXHAUSTED"))
        #expect(rig.requests.count == 10 && rig.gateway.counts.rejections[.debugRate] == 1)
        // Other verbs are not held up.
        #expect(rig.call("POST", "/v1/\(ExchangeKit.resource):generateAppAttestChallenge").reply?.status == 200)
        rig.pass(milliseconds: 60_000)
        rig.call("POST", Self.path, body: Self.body)
        #expect(rig.requests.count == 11)
    }

    @Test func `an app without debug tokens does not serve the verb`() throws {
        let rig = try GatewayRig()
        let responder = rig.call("POST", Self.path, body: Self.body)
        #expect(responder.reply?.status == 400 && rig.records.isEmpty)
    }

    @Test func `the app's API keys are asked for`() throws {
        let token = try ExchangeKit.debugToken()
        let rig = try GatewayRig(app: {
            $0.debugTokens = [token]
            $0.apiKeys = ["right"]
        })
        #expect(rig.call("POST", Self.path, body: Self.body).reply?.status == 401)
        let header = [("x-goog-api-key", "right")]
        #expect(rig.call("POST", Self.path, header, body: Self.body).reply == nil)
        #expect(rig.requests.count == 1)
    }
}
