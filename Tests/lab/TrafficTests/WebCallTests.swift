import AppAttest
import AppCheck
import DeviceLab
import JSON
import Testing

@testable import Traffic

@Suite("Calls of stock clients over HTTP")
struct WebCallTests {
    private static func app(keys: Set<ExactText>? = nil) throws -> SimulatedApp {
        let expectations = Expectations(appIDs: [AppID("ABCDE12345.com.example.app")])
        var app = RegisteredApp(
            projectNumber: "1",
            projectID: "lab",
            appID: "1:1234:ios:0a",
            oauthClientIDs: ["client.apps"],
            expectations: expectations
        )
        app.apiKeys = keys
        return try #require(SimulatedApp(app))
    }

    /// The calls of one member of each kind of resource, until its wishes are fulfilled.
    private func calls(_ app: SimulatedApp) throws -> [StockMember.Call] {
        let link = MemoryLink()
        let fleet = TrafficLab.fleet([app], 2, [.limitedUse], link)
        try fleet.serve(steps: 40)
        #expect(fleet.isDone)
        return link.calls
    }

    private static func value(_ name: String, of call: StockMember.Call) -> [String] {
        call.web.headers.filter { $0.name == name }.map(\.value)
    }

    @Test func `a challenge has an empty body and no type, an exchange has both, and the colons stay`() throws {
        let calls = try calls(Self.app())
        let challenge = try #require(calls.first { $0.verb == "generateAppAttestChallenge" })
        #expect(challenge.web.path == "/v1/projects/lab/apps/1:1234:ios:0a:generateAppAttestChallenge")
        #expect(challenge.web.body == [] && Self.value("Content-Type", of: challenge) == [])
        #expect(Self.value("X-App-Attest-Handshake", of: challenge) == ["attestation"])
        let exchange = try #require(calls.first { $0.verb == "exchangeAppAttestAttestation" })
        #expect(Self.value("Content-Type", of: exchange) == ["application/json"])
        #expect(Self.value("X-App-Attest-Handshake", of: exchange) == [])
        #expect(try JSONDocument(parsing: exchange.web.body).root["attestation_statement"] != nil)
        for call in [challenge, exchange] {
            #expect(Self.value("X-Ios-Bundle-Identifier", of: call) == ["com.example.app"])
            #expect(Self.value("X-Installation-Id", of: call).first?.count == 22)
            #expect(!call.web.path.contains("?"))
        }
        let check = try #require(calls.first { $0.verb == "verifyAppCheckToken" })
        #expect(check.web.path == "/v1beta/projects/lab:verifyAppCheckToken")
        #expect(check.web.headers.map { [$0.name, $0.value] } == [["Content-Type", "application/json"]])
    }

    @Test func `an app's API key goes with its calls, and never with those of an OAuth client`() throws {
        let calls = try calls(Self.app(keys: ["b-key", "a-key"]))
        let sdk = calls.filter { $0.verb != "verifyAppCheckToken" }
        let (apps, clients) = (sdk.filter { $0.subject != nil }, sdk.filter { $0.subject == nil })
        #expect(!apps.isEmpty && apps.allSatisfy { Self.value("X-Goog-Api-Key", of: $0) == ["a-key"] })
        #expect(!clients.isEmpty && clients.allSatisfy { Self.value("X-Goog-Api-Key", of: $0) == [] })
        #expect(clients.allSatisfy { $0.web.path.hasPrefix("/v1/oauthClients/client.apps:") })
        #expect(try self.calls(Self.app()).allSatisfy { Self.value("X-Goog-Api-Key", of: $0) == [] })
    }

    @Test(
        arguments: [
            ("/v1/a:b-_.~!$&'()*+,;=@c", "/v1/a:b-_.~!$&'()*+,;=@c"), ("/a b", "/a%20b"), ("/a?b#c", "/a%3Fb%23c"),
            ("/50%", "/50%25"), ("/é", "/%C3%A9"), ("/a\r\nb", "/a%0D%0Ab"),
        ]
    )
    func `a path's bytes are escaped as NSURL does it`(path: String, escaped: String) {
        #expect(WebCall.escape(path) == escaped)
    }

    @Test func `a broken connection is tried again after a second, and counted by its cause`() throws {
        let link = MemoryLink()
        link.loses = true
        let fleet = TrafficLab.fleet([try Self.app()], 1, [.session], link)
        let noon = TrafficLab.noon.milliseconds
        for time in [0, 999] as [Int64] { try fleet.serve(steps: 1, from: EvaluationTime(milliseconds: noon + time)) }
        #expect(fleet.tally.calls == 1 && fleet.tally.broken == ["away": 1] && fleet.answers == 0)
        #expect(fleet.silentUntil == EvaluationTime(milliseconds: noon + 1000))
        link.loses = false
        try fleet.serve(steps: 10, from: EvaluationTime(milliseconds: noon + 1000))
        #expect(fleet.isDone && fleet.tally.sessions == 1 && fleet.tally.lost == 1)
    }

    @Test func `backends that check no tokens make no calls, and the limited-use tokens count`() throws {
        let link = MemoryLink()
        let fleet = TrafficLab.fleet([try Self.app()], 2, [.limitedUse], link, checksTokens: false)
        try fleet.serve(steps: 20)
        #expect(fleet.isDone && fleet.tally.limitedUse == 2 && fleet.tally.consumed == 0)
        #expect(link.calls.allSatisfy { $0.verb != "verifyAppCheckToken" } && link.calls.count == 4)
    }
}
