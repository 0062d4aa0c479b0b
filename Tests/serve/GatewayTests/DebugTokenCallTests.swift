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

    private static let path = "/v1/\(ExchangeKit.resource.replacing(":", with: "%3A")):exchangeDebugToken?key=x"

    @Test func `a call becomes a request without a key of its own, and its token is the reply`() throws {
        let rig = try Self.rig()
        let responder = rig.call("POST", Self.path, body: Self.body())
        let request = try #require(rig.requests.first)
        let root = try JSONDocument(parsing: request.value).root
        #expect(root["path"]?.string == "v1/\(ExchangeKit.resource):exchangeDebugToken")
        #expect(root["body"]?["debug_token"]?.string == ExchangeKit.debugSecret)
        rig.gateway.note(results: [rig.result(of: request)])
        rig.gateway.note(tokens: [rig.token(of: request, #"{"token":"t","ttl":"3600s"}"#)])
        #expect(responder.reply?.status == 200 && responder.body == #"{"token":"t","ttl":"3600s"}"#)
    }

    @Test func `the eleventh call with a secret in a minute gets 429 and leaves no request, until the next minute`()
        throws
    {
        let rig = try Self.rig()
        for _ in 0..<10 { rig.call("POST", Self.path, body: Self.body()) }
        #expect(rig.requests.count == 10)
        let late = rig.call("POST", Self.path, body: Self.body())
        #expect(late.reply?.status == 429 && late.body.contains("RESOURCE_EXHAUSTED"))
        let rest = 60 - ExchangeKit.start / 1_000 % 60
        #expect(late.reply?.value(of: "Retry-After") == "\(rest)")
        #expect(rig.requests.count == 10 && rig.gateway.counts.rejections[.debugRate] == 1)
        // Other verbs are not held up.
        #expect(rig.call("POST", "/v1/\(ExchangeKit.resource):generateAppAttestChallenge").reply?.status == 200)
        rig.pass(milliseconds: 60_000)
        rig.call("POST", Self.path, body: Self.body())
        #expect(rig.requests.count == 11)
    }

    /// As AppCheckCore writes it.
    private static func body(_ secret: String = ExchangeKit.debugSecret) -> [UInt8] {
        Array(#"{"debug_token":"\#(secret)","limited_use":true}"#.utf8)
    }

    @Test(arguments: ["6F1B0C39-3E0C-4C58-8F2E-0B6A4D0F1C12", "guess", "", "6f1b0c39-3e0c-1c58-8f2e-0b6a4d0f1c11"])
    func `a secret that is none of the app's is refused as a worker would, without a record`(secret: String) throws {
        let rig = try Self.rig()
        let responder = rig.call("POST", Self.path, [("x-installation-id", "i-1")], body: Self.body(secret))
        #expect(responder.reply?.status == 403)
        #expect(
            responder.body
                == #"{"error":{"code":403,"message":"App attestation failed.","status":"PERMISSION_DENIED"}}"#
        )
        #expect(rig.requests.isEmpty && rig.gateway.counts.rejections == [.debugToken: 1])
        let event = try JSONDocument(parsing: try #require(rig.records.first).value).root
        #expect(rig.records.map(\.topic) == ["appattest.events"])
        #expect(event["event"]?.string == "DebugTokenFailure" && event["reason"]?.string == "debug-token-invalid")
        #expect(event["app"]?.string == ExchangeKit.name && event["method"]?.string == "exchangeDebugToken")
        #expect(event["limitedUse"]?.bool == true && event["device"]?.string?.utf8.count == 16)
        #expect(responder.reply?.value(of: "X-Request-Id") == event["requestId"]?.string)
    }

    @Test func `wrong secrets keep no one out who has a right one, and leave 10 events in a minute`() throws {
        let other = "0F7B3A52-9D61-4E0A-A1C4-5B7D2E6F8A90"
        let tokens = try [ExchangeKit.debugToken(), ExchangeKit.debugToken(other)]
        let rig = try GatewayRig(app: { $0.debugTokens = tokens })
        for _ in 0..<100 { #expect(rig.call("POST", Self.path, body: Self.body("guess")).reply?.status == 403) }
        #expect(rig.records.count == 10 && rig.gateway.counts.rejections == [.debugToken: 100])
        for _ in 0..<10 { #expect(rig.call("POST", Self.path, body: Self.body()).reply == nil) }
        // Each secret has a limit of its own.
        #expect(rig.call("POST", Self.path, body: Self.body()).reply?.status == 429)
        #expect(rig.call("POST", Self.path, body: Self.body(other)).reply == nil)
        #expect(rig.requests.count == 11)
    }

    @Test func `a secret whose time is over goes to its worker, which says so`() throws {
        var token = try ExchangeKit.debugToken()
        token.until = EvaluationTime(milliseconds: ExchangeKit.start - 1)
        let rig = try GatewayRig(app: { $0.debugTokens = [token] })
        #expect(rig.call("POST", Self.path, body: Self.body()).reply == nil && rig.requests.count == 1)
    }

    @Test func `an app without debug tokens does not serve the verb`() throws {
        let rig = try GatewayRig()
        let responder = rig.call("POST", Self.path, body: Self.body())
        #expect(responder.reply?.status == 400 && rig.records.isEmpty)
    }

    @Test func `the app's API keys are asked for`() throws {
        let token = try ExchangeKit.debugToken()
        let rig = try GatewayRig(app: {
            $0.debugTokens = [token]
            $0.apiKeys = ["right"]
        })
        #expect(rig.call("POST", Self.path, body: Self.body()).reply?.status == 401)
        let header = [("x-goog-api-key", "right")]
        #expect(rig.call("POST", Self.path, header, body: Self.body()).reply == nil)
        #expect(rig.requests.count == 1)
    }
}
