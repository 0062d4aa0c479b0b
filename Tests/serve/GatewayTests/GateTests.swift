import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Gateway
import HTTP
import JSON
import Settings
import TestKit
import Testing

@Suite struct GateTests {
    private static let path = "/v1/\(ExchangeKit.resource):generateAppAttestChallenge"
    private static let oauth = "/v1/oauthClients/\(ExchangeKit.client):generateAppAttestChallenge"

    private func challenge(in responder: GatewayRig.Responder) throws -> [UInt8] {
        let root = try JSONDocument(parsing: try #require(responder.reply?.body)).root
        #expect(root["ttl"]?.string == "300s")
        return try #require(root["challenge"]?.base64Bytes)
    }

    @Test(arguments: ["", "{}"])
    func `a challenge is made at once, for its app and this moment`(body: String) throws {
        let rig = try GatewayRig()
        let responder = rig.call("POST", Self.path, body: Array(body.utf8))
        #expect(responder.reply?.status == 200)
        let challenge = try challenge(in: responder)
        let ring = try ExchangeKit.keys().challenges
        let time = EvaluationTime(milliseconds: ExchangeKit.start)
        #expect(throws: Never.self) { try ring.open(challenge, app: ExchangeKit.name, ttl: 300_000, at: time).get() }
        #expect(ring.authenticate(challenge, app: "projects/1/apps/2") == .failure(.challengeInvalid))
        #expect(rig.records.isEmpty)
        #expect(try self.challenge(in: rig.call("POST", Self.path)) != challenge)
    }

    @Test(arguments: [
        ("/v1/projects/lab/apps/none:generateAppAttestChallenge", 503), ("/v1/nothing", 404), ("/", 404),
        ("/v1/\(ExchangeKit.resource):exchangeDeviceCheckToken", 400),
        ("/v1/\(ExchangeKit.resource):exchangeAppAttestAttestation", 400),
        ("/v1//\(ExchangeKit.resource):generateAppAttestChallenge", 400),
        ("/v1/../v1/\(ExchangeKit.resource):generateAppAttestChallenge", 400),
        ("/v1/./\(ExchangeKit.resource):generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource)%00:generateAppAttestChallenge", 400),
        ("/v1%2F\(ExchangeKit.resource):generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource)%3Fa:generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource)%23a:generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource)%:generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource)%4:generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource)%zz:generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource)#a:generateAppAttestChallenge", 400),
        ("/v1/\(ExchangeKit.resource):generateAppAttestChallenge?a=%zz", 400),
        ("v1/\(ExchangeKit.resource):generateAppAttestChallenge", 400), ("", 400),
        ("/v1/\(ExchangeKit.resource.replacing(":", with: "%253A")):generateAppAttestChallenge", 503),
    ])
    func `an invalid path is refused and leaves no record`(target: String, code: Int) throws {
        let rig = try GatewayRig()
        #expect(rig.call("POST", target).reply?.status == code)
        #expect(rig.records.isEmpty)
    }

    @Test(arguments: ["{}, \"path\": \"x\"", "{}}", "{", "nonsense", "{\"a\":1}{}", "\u{FEFF}{}", "null null"])
    func `a body that is no JSON value cannot reach into its record`(body: String) throws {
        let rig = try GatewayRig()
        let responder = rig.call(
            "POST",
            "/v1/\(ExchangeKit.resource):exchangeAppAttestAttestation",
            body: Array(body.utf8)
        )
        #expect(responder.reply?.status == 400)
        #expect(rig.records.isEmpty)
    }

    @Test func `a value over the limit gets 413`() throws {
        let rig = try GatewayRig()
        let body = #"{"a":"\#(String(repeating: "x", count: 65_500))"}"#
        let responder = rig.call("POST", Self.path, body: Array(body.utf8))
        #expect(responder.reply?.status == 413)
    }

    // MARK: Who may ask

    @Test func `an app's keys are asked for, in the header or the query`() throws {
        let rig = try GatewayRig(app: { $0.apiKeys = ["k1", "k2"] })
        #expect(rig.call("POST", Self.path).reply?.status == 401)
        #expect(rig.call("POST", Self.path, [("x-goog-api-key", "k")]).reply?.status == 401)
        #expect(rig.call("POST", Self.path + "?key=k3").reply?.status == 401)
        #expect(rig.call("POST", Self.path, [("x-goog-api-key", "k2")]).reply?.status == 200)
        #expect(rig.call("POST", Self.path + "?key=k1").reply?.status == 200)
        // Google Sign-In sends none.
        #expect(rig.call("POST", Self.oauth).reply?.status == 200)
        #expect(rig.gateway.counts.rejections[.apiKey] == 3)
    }

    /// RFC 9110, 15.5.2.
    @Test func `each 401 names a scheme`() throws {
        let rig = try GatewayRig(app: { $0.apiKeys = ["k1"] }, settings: { $0.bundleHeader = .require })
        let (token, verify) = (try Tokens.limitedUse(), "/v1/verify?app=\(ExchangeKit.appID)")
        let calls = [
            rig.call("POST", Self.path), rig.call("POST", Self.path, [("x-goog-api-key", "k1")]),
            rig.call("GET", verify), rig.call("GET", verify, [("x-firebase-appcheck", token + "x")]),
            rig.call("GET", verify + "&consume=1", [("x-firebase-appcheck", token)]),
        ]
        for reply in calls.map(\.reply) {
            #expect(reply?.status == 401 && reply?.value(of: "WWW-Authenticate") == "Bearer")
        }
    }

    @Test(arguments: [(nil, 200), ([], 401)] as [([ExactText]?, Int)])
    func `an app without a list takes any key, a closed one none`(keys: [ExactText]?, status: Int) throws {
        let rig = try GatewayRig(app: { $0.apiKeys = keys.map { Set($0) } })
        for key in ["any", ""] {
            #expect(rig.call("POST", Self.path, [("x-goog-api-key", key)]).reply?.status == status)
        }
    }

    @Test(arguments: [BundleHeaderPolicy.count, .require])
    func `a foreign bundle is counted, and refused where that is asked for`(policy: BundleHeaderPolicy) throws {
        let rig = try GatewayRig(settings: { $0.bundleHeader = policy })
        let refused = policy == .require ? 401 : 200
        func status(_ headers: [(String, String)]) -> Int? { rig.call("POST", Self.path, headers).reply?.status }
        #expect(status([("x-ios-bundle-identifier", "com.example.app")]) == 200)
        #expect(status([("x-ios-bundle-identifier", "com.example.other")]) == refused)
        #expect(status([("x-ios-bundle-identifier", "ABCDE12345.com.example.app")]) == refused)
        #expect(status([]) == refused)
        #expect(rig.gateway.counts.foreignBundles == 2)
        // Google Sign-In sends none.
        #expect(rig.call("POST", Self.oauth).reply?.status == 200)
        let foreign = [("x-ios-bundle-identifier", "com.example.other")]
        #expect(rig.call("POST", Self.oauth, foreign).reply?.status == 200)
        #expect(rig.gateway.counts.foreignBundles == 2)
    }

    @Test(
        arguments: [
            ("com.example.app", 200), ("com.example.app.Clip", 200), ("com.example.app.widget", 401),
            ("com.example.app.Clip.more", 401), ("com.example.application", 401), ("com.example.app.clip", 401),
            ("", 401),
        ]
    )
    func `an App Clip's own bundle passes where the app lists it, and is counted by its name`(
        bundle: String,
        code: Int
    ) throws {
        let clip = "com.example.app.Clip"
        let rig = try GatewayRig(app: { $0.bundleIDs = [clip] }, settings: { $0.bundleHeader = .require })
        let headers = [("x-ios-bundle-identifier", bundle)]
        #expect(rig.call("POST", Self.path, headers).reply?.status == code)
        let counts = rig.gateway.counts
        #expect(
            counts.bundles.map { "\($0.key.app) \($0.key.name) \($0.value)" }
                == (code == 200 ? ["\(ExchangeKit.appID) \(bundle) 1"] : [])
        )
        #expect(counts.foreignBundles == (code == 200 ? 0 : 1))
        // The clip is one of that app alone.
        let other = "/v1/\(ExchangeKit.otherResource):generateAppAttestChallenge"
        #expect(rig.call("POST", other, [("x-ios-bundle-identifier", clip)]).reply?.status == 401)
    }

    @Test(
        arguments: [
            "/v1beta/projects/contract-test-1:verifyAppCheckToken", "/v1/projects/none:verifyAppCheckToken",
            "/v1/\(ExchangeKit.resource):verifyAttestation", "/v1/projects/x/apps/y:verifyAssertion",
        ],
        ["", "no JSON", "{}", "{\"a\":1}{}"]
    )
    func `without credentials a verifier's verb gets 401 before its body is read`(target: String, body: String) throws {
        let rig = try GatewayRig()
        let reply = rig.call("POST", target, body: Array(body.utf8)).reply
        #expect(reply?.status == 401 && reply?.value(of: "WWW-Authenticate") == "Bearer")
        #expect(rig.gateway.counts.rejections == [.credentials: 1])
        #expect(rig.gateway.counts.answers.keys.first?.verb != .other)
    }

    @Test(arguments: [Verb.verifyAppCheckToken, .verifyAttestation, .verifyAssertion])
    func `tokens and objects are verified for those alone who prove who they are`(verb: Verb) throws {
        let rig = try GatewayRig(settings: { settings in
            settings.verifierHeader = "X-Client-Name"
            settings.verifierNames = ["billing"]
        })
        let device = FakeDevice(ExchangeKit.model, seed: 3)
        let request =
            switch verb {
            case .verifyAttestation: ExchangeRequest.verifyAttestation(of: device)
            case .verifyAssertion: ExchangeRequest.verifyAssertion(of: device, counter: 1)
            default: ExchangeRequest.verification(of: try Tokens.limitedUse())
            }
        func status(_ headers: [(String, String)], _ peer: PeerAddress = GatewayRig.stranger) throws -> Int? {
            try rig.send(request, headers, from: peer).reply?.status
        }
        let refused: [[(String, String)]] = [
            [], [("authorization", "Bearer wrong")], [("authorization", GatewayRig.secret)],
            [("authorization", "Basic \(GatewayRig.secret)")], [("authorization", "Bearer ")],
            GatewayRig.bearer + GatewayRig.bearer, [("x-client-name", "billing")],
        ]
        for headers in refused { #expect(try status(headers) == 401) }
        #expect(try status([("x-client-name", "billin")], GatewayRig.proxy) == 401)
        #expect(try status([("x-client-name", "billing"), ("x-client-name", "billing")], GatewayRig.proxy) == 401)
        #expect(rig.requests.isEmpty)
        #expect(try status(GatewayRig.bearer) == nil)
        #expect(try status([("authorization", "bearer   \(GatewayRig.secret)")]) == nil)
        #expect(try status([("x-client-name", "billing")], GatewayRig.proxy) == nil)
        #expect(rig.requests.count == 3)
    }

    // MARK: The rollout

    private func closed(_ app: inout RegisteredApp) {
        app.rollout.mode = .on
        app.rollout.parts = 0
    }

    @Test func `a device outside the share learns it before it asks Apple, and leaves an event`() throws {
        let rig = try GatewayRig(app: closed)
        let target = "/v1/\(ExchangeKit.resource):rollout"
        let responder = rig.call("GET", target, [("x-installation-id", "i-1")])
        #expect(responder.reply?.status == 200)
        #expect(responder.body.hasPrefix(#"{"admitted":false,"bucket":"#))
        let event = try #require(rig.records.first)
        #expect(event.topic == "appattest.events")
        let root = try JSONDocument(parsing: event.value).root
        #expect(root["event"]?.string == "AppAttestNotAdmitted")
        #expect(root["app"]?.string == ExchangeKit.name)
        #expect(root["reason"]?.string == "rollout-not-admitted")
        #expect(root["method"]?.string == "exchangeAppAttestAttestation")
        #expect(root["device"]?.string?.utf8.count == 16)
        #expect(rig.call("GET", target).reply?.status == 400)
        #expect(rig.call("GET", "/v1/projects/x/apps/y:rollout", [("x-installation-id", "i")]).reply?.status == 503)
        #expect(rig.records.count == 1)
    }

    @Test func `a flood of such calls leaves 500 events in a second, on all partitions`() throws {
        let rig = try GatewayRig(app: closed)
        let target = "/v1/\(ExchangeKit.resource):rollout"
        for index in 0..<600 { rig.call("GET", target, [("x-installation-id", "i-\(index)")]) }
        #expect(rig.records.count == 500)
        #expect(rig.gateway.counts.droppedEvents == 100)
        #expect(Set(rig.records.map(\.partition)) == Set(0..<GatewayRig.partitions))
        rig.pass(milliseconds: 1_000)
        rig.call("GET", target, [("x-installation-id", "i-1")])
        #expect(rig.records.count == 501)
    }

    @Test func `a device inside the share leaves none`() throws {
        let rig = try GatewayRig(app: { $0.rollout.mode = .off })
        let responder = rig.call("GET", "/v1/\(ExchangeKit.resource):rollout", [("x-installation-id", "i-1")])
        #expect(responder.body == #"{"admitted":true}"#)
        #expect(rig.records.isEmpty)
    }

    @Test func `only the challenge of an attestation asks the share`() throws {
        let rig = try GatewayRig(app: closed)
        let installation = [("x-installation-id", "i-1")]
        #expect(rig.call("POST", Self.path, installation).reply?.status == 200)
        let handshake = [("x-app-attest-handshake", "attestation")]
        #expect(rig.call("POST", Self.path, handshake).reply?.status == 200)
        #expect(rig.records.isEmpty)
        #expect(rig.call("POST", Self.path, installation + handshake).reply?.status == 429)
        #expect(rig.records.map(\.topic) == ["appattest.events"])
    }
}
