import AppAttest
import AppCheck
import Gateway
import HTTP
import JSON
import TestKit
import Testing

/// What a proxy's parameters let pass, and what its client cannot change of it.
@Suite struct VerifyTargetTests {
    private static let (app, other) = (ExchangeKit.appID, "1:210987654321:ios:00")
    private static let (number, foreign) = (ExchangeKit.projectNumber, ExchangeKit.otherProject)

    private static func call(
        _ rig: GatewayRig,
        _ target: String,
        _ token: String? = nil,
        method: String = "GET",
        _ headers: [(String, String)] = []
    ) throws -> HTTPReply? {
        let token = try token ?? Tokens.limitedUse()
        return rig.call(method, target, [("x-firebase-appcheck", token)] + headers).reply
    }

    /// One project alone, as most gateways have it.
    private static func single() throws -> GatewayRig {
        let rig = try GatewayRig()
        rig.gateway.replace(try GatewayRig.rules(Registry(apps: [ExchangeKit.registry().apps[0]])))
        return rig
    }

    @Test(arguments: [
        "?app=\(app)", "?project=\(number)", "?project=contract-test-1", "?app=\(app)&project=\(number)",
        "?app=\(app.replacing(":", with: "%3A"))", ";app=\(app)", ";project=\(number);app=\(app)", ";app=\(app)/",
        ";app=\(app)?a=b",
    ])
    func `a token of the app or project that the proxy names passes`(parameters: String) throws {
        #expect(try Self.call(GatewayRig(), "/v1/verify" + parameters)?.status == 200)
    }

    @Test(arguments: [
        "?app=\(other)", "?project=\(foreign)", "?app=\(app)&project=\(foreign)", "?app=\(other)&project=\(number)",
        "?app=nothing", "?project=nothing", "?app=\(app)x", "?app=\(app.dropLast())", ";app=\(other)",
        "?app=\(ExchangeKit.client)",
    ])
    func `one of another does not`(parameters: String) throws {
        let rig = try GatewayRig()
        #expect(try Self.call(rig, "/v1/verify" + parameters)?.status == 401)
        #expect(rig.gateway.counts.refusedTokens == [.app: 1])
    }

    @Test(arguments: [
        "?consume=0", "?consume=", "?consume", "?consume=true", "?consume=1&consume=1", "?comsume=1", "?Consume=1",
        "?app=", "?app",
        "?project=", "?app=\(app)&app=\(other)", "?project=\(number)&project=\(number)", "?app=%zz", "?a=b", "?=",
        ";consume=2",
        ";app=", ";b", "?app=\(app);consume=1&x",
    ])
    func `parameters that are mistyped are named, and never a silent no`(parameters: String) throws {
        let rig = try Self.single()
        let reply = try Self.call(rig, "/v1/verify" + parameters, nil, GatewayRig.bearer)
        #expect(reply?.status == 400 && rig.requests.isEmpty)
        let text = String(decoding: reply?.body ?? [], as: UTF8.self)
        #expect(text.contains("parameter"))
        #expect(rig.gateway.counts.refusedTokens == [.parameters: 1])
    }

    @Test(arguments: ["", "/", "/path", "?consume=1", "/path?app=\(app)", "/;app=\(app)", "/path?project=\(number)"])
    func `where apps of several projects are configured, the proxy says which it means`(rest: String) throws {
        let reply = try Self.call(GatewayRig(), "/v1/verify" + rest, nil, GatewayRig.bearer)
        #expect(reply?.status == 400)
        let text = String(decoding: reply?.body ?? [], as: UTF8.self)
        #expect(text.contains("several projects"))
    }

    @Test func `an app of two projects takes the project's name too`() throws {
        let rig = try GatewayRig()
        var apps = try ExchangeKit.registry().apps
        apps[2].appID = Self.app
        rig.gateway.replace(try GatewayRig.rules(Registry(apps: apps)))
        #expect(try Self.call(rig, "/v1/verify?app=\(Self.app)")?.status == 400)
        #expect(try Self.call(rig, "/v1/verify?app=\(Self.app)&project=\(Self.number)")?.status == 200)
        #expect(try Self.call(rig, "/v1/verify?app=\(Self.app)&project=\(Self.foreign)")?.status == 401)
    }

    @Test func `a debug token passes only where its app is asked for`() throws {
        let secret = try ExchangeKit.debugToken()
        let rig = try GatewayRig(app: { $0.debugTokens = [secret] })
        var claims = Tokens.claims(limitedUse: true)
        claims.isDebug = true
        let token = try Tokens.token(claims)
        #expect(try Self.call(rig, "/v1/verify?app=\(Self.app)", token)?.status == 200)
        #expect(try Self.call(rig, "/v1/verify?app=\(ExchangeKit.otherAppID)", token)?.status == 401)
        #expect(try Self.call(rig, "/v1/verify?project=\(Self.foreign)", token)?.status == 401)
    }

    // MARK: As Envoy and Istio ask: the client's method, and its path and query behind a prefix

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
    func `the client's method and path say nothing`(method: String) throws {
        let rig = try Self.single()
        for path in ["", "/", "/anything?x=y", "/a//b/../%2F%zz?app=x&consume=1", "/v1/jwks"] {
            let reply = try Self.call(rig, "/v1/verify" + path, method: method)
            #expect(reply?.status == 200, "\(path)")
            #expect(reply?.value(of: "X-App-Check-App") == Self.app)
            // A POST without a token to the path alone is no proxy's.
            let isPlain = path.isEmpty && !["GET", "HEAD"].contains(method)
            #expect(rig.call(method, "/v1/verify" + path).reply?.status == (isPlain ? 405 : 401))
        }
        #expect(rig.records.isEmpty)
    }

    @Test(arguments: [
        "/", "/?app=\(app)", "/path?project=\(number)&app=\(app)", "/;app=\(app)/", "/v1/verify?app=\(app)",
        "?app=\(app)",
        "/..;app=\(app)",
    ])
    func `nothing that a client appends widens what the proxy accepts`(rest: String) throws {
        #expect(try Self.call(GatewayRig(), "/v1/verify;app=\(Self.other)" + rest)?.status == 401)
    }

    @Test(arguments: ["/", "/?consume=0", "/path?x", "?consume=0", "/;consume=2"])
    func `nor does it keep the token from being used up`(rest: String) throws {
        let rig = try GatewayRig()
        let headers = GatewayRig.bearer + [("idempotency-key", "x"), ("x-request-id", "x")]
        for _ in 0..<2 {
            let target = "/v1/verify;app=\(Self.app);consume=1" + rest
            #expect(try Self.call(rig, target, nil, method: "PUT", headers) == nil)
        }
        #expect(Set(rig.requests.map(GatewayRig.id)).count == 2)
    }

    @Test(arguments: ["/v1/verifyx", "/v1/verify%3Fapp=x", "/v1/verify:x", "/v2/verify", "/v1/verify&app=x"])
    func `another path is another path`(path: String) throws {
        let status = try Self.call(Self.single(), path)?.status
        #expect(status == 404 || status == 400)
    }

    @Test func `an app whose name is no visible ASCII is named all the same`() throws {
        let rig = try GatewayRig(app: { $0.appID = "ä 1%" })
        var claims = Tokens.claims(limitedUse: true)
        claims.subject = "ä 1%"
        let reply = try Self.call(rig, "/v1/verify?project=\(Self.number)", Tokens.token(claims))
        #expect(reply?.status == 200)
        #expect(reply?.value(of: "X-App-Check-App") == "%C3%A4%201%25")
    }
}
