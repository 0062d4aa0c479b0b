import AppAttest
import AppCheck
import DeviceLab
import Gateway
import HTTP
import JSON
import Kafka
import SimulationKit
import Streams
import TestKit
import Testing

/// What Google's SDK for iOS sends, byte by byte, through gateway and worker, and their answers through the SDK's parsers.
@Suite("The SDK's bytes through a gateway")
struct StockClientTests {
    /// A gateway in front of a worker.
    private struct Site {
        let gateway: GatewayRig
        let worker: ExchangeRig

        init() throws {
            let token = try ExchangeKit.debugToken()
            let adjust: (inout RegisteredApp) -> Void = {
                $0.apiKeys = ["AIza-key"]
                $0.expectations = Expectations(
                    appIDs: [AppID(ExchangeKit.appleAppID)],
                    environments: [.development, .production]
                )
                $0.debugTokens = [token]
            }
            gateway = try GatewayRig(app: adjust)
            worker = try ExchangeRig(ExchangeKit.settings(adjust: adjust))
        }

        /// The reply to a call, once the worker has judged its request.
        func reply(_ target: String, _ headers: [(String, String)], _ body: [UInt8]) throws -> HTTPReply {
            let before = gateway.requests.count
            let responder = gateway.call("POST", target, headers, body: body)
            if let request = gateway.requests.dropFirst(before).first { try gateway.relay(request, to: worker) }
            return try #require(responder.reply)
        }
    }

    /// As the SDK adds them to each call.
    private static let headers = [
        ("content-type", "application/json"), ("x-goog-api-key", "AIza-key"),
        ("x-ios-bundle-identifier", "com.example.app"),
    ]

    /// - Parameter isEscaped: whether the app id's colons are escaped, as NSURLComponents does it.
    private static func target(_ call: StockCall, _ version: String, isEscaped: Bool) -> String {
        let parts = call.path.dropFirst().split(separator: "/", maxSplits: 1)
        let verb = parts[1].split(separator: ":").last ?? ""
        let app = String(parts[1].dropLast(verb.count + 1))
        let name = isEscaped ? app.replacing(":", with: "%3A") : app
        return "/\(version)/\(name):\(verb)?key=AIza-key"
    }

    @Test(arguments: [
        (ExchangeKit.resource, "v1", true), (ExchangeKit.resource, "v1beta", false),
        ("oauthClients/\(ExchangeKit.client)", "v1beta", true), ("oauthClients/\(ExchangeKit.client)", "v1", false),
    ])
    func `a handshake and refreshes of both kinds of tokens end with what the SDK can read`(
        resource: String,
        version: String,
        isEscaped: Bool
    ) throws {
        let site = try Site()
        var client = StockClient(ExchangeKit.model, resource: resource, seed: 11)
        var verbs: [String] = []
        for limitedUse in [false, true, true] {
            let now = EvaluationTime(milliseconds: ExchangeKit.start)
            var reply = client.want(limitedUse: limitedUse, at: now)
            while let call = reply.call {
                let isOAuth = resource.hasPrefix("oauth")
                let body = call.body ?? []
                #expect(call.body == nil || (body.contains(0x5C) || !body.contains(0x2F)), "slashes are escaped")
                let target = Self.target(call, version, isEscaped: isEscaped)
                let answer = try site.reply(target, isOAuth ? [Self.headers[0]] : Self.headers, body)
                #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
                verbs.append(call.verb)
                reply = client.answer(status: answer.status, body: answer.body, at: now)
            }
            guard case .token(let token)? = reply.outcomes.first else {
                Issue.record("no token: \(reply.outcomes)")
                return
            }
            let payload = try #require(ExchangeToken(token.text)).payload
            #expect(payload["provider"]?.string == "device_check_app_attest")
        }
        #expect(Set(verbs).count == 3 && verbs.first == "generateAppAttestChallenge")
    }

    @Test func `a debug token is exchanged and its token used up, in the SDK's bytes`() throws {
        let site = try Site()
        let app = ExchangeKit.resource.replacing(":", with: "%3A")
        let body = #"{"debug_token":"\#(ExchangeKit.debugSecret)","limited_use":true}"#
        let answer = try site.reply("/v1/\(app):exchangeDebugToken?key=AIza-key", Self.headers, Array(body.utf8))
        let root = try JSONDocument(parsing: answer.body).root
        let token = try #require(root["token"]?.string)
        #expect(answer.status == 200 && root["ttl"]?.string?.hasSuffix("s") == true)
        let check = Array(#"{"app_check_token":"\#(token)"}"#.utf8)
        let path = "/v1beta/projects/\(ExchangeKit.projectID):verifyAppCheckToken"
        let header = GatewayRig.bearer + [("content-type", "application/json")]
        #expect(try site.reply(path, header, check).body == Array("{}".utf8))
        #expect(try site.reply(path, header, check).body == Array(#"{"alreadyConsumed":true}"#.utf8))
    }
}
