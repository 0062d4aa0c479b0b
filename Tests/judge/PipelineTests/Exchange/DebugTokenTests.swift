import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite("Debug tokens")
struct DebugTokenTests {
    private static func rig(
        until: Int64 = ExchangeKit.start + 3_600_000,
        adjust: (inout RegisteredApp) -> Void = { _ in }
    ) throws -> ExchangeRig {
        let token = try ExchangeKit.debugToken(until: until)
        return try ExchangeRig(
            ExchangeKit.settings {
                $0.debugTokens = [token]
                adjust(&$0)
            }
        )
    }

    private static func payload(_ answers: ExchangeAnswers) throws -> JSONNode {
        try #require(answers.token).payload
    }

    @Test(arguments: [ExchangeKit.debugSecret, ExchangeKit.debugSecret.lowercased()])
    func `a secret gets a token that names its provider, whatever the case of its letters`(secret: String) throws {
        let answers = try #require(Self.rig().send([.debug(secret)]).first)
        #expect(answers.summary == "accepted" && answers.code == 200)
        let payload = try Self.payload(answers)
        #expect(payload["provider"]?.string == "debug")
        #expect(payload["sub"]?.string == ExchangeKit.appID)
        #expect(answers.answer?["artifact"] == nil && answers.answer?["attestationToken"] == nil)
    }

    @Test func `v1beta repeats the token, and an OAuth client's name is its subject`() throws {
        let rig = try Self.rig()
        let beta = try #require(rig.send([.debug(ExchangeKit.debugSecret, version: "v1beta")]).first)
        #expect(beta.answer?["attestationToken"]?.string == beta.answer?["token"]?.string)
        let client = "oauthClients/\(ExchangeKit.client)"
        let answers = try #require(rig.send([.debug(ExchangeKit.debugSecret, resource: client)]).first)
        #expect(try Self.payload(answers)["sub"]?.string == ExchangeKit.client)
    }

    @Test(arguments: [
        (false, Int64(1_800_000), Int64(1_800)), (false, 3_600_000, 3_600), (false, 604_800_000, 3_600),
        (true, 604_800_000, 300),
    ])
    func `a token lives for an hour at most`(limitedUse: Bool, ttl: Int64, seconds: Int64) throws {
        let rig = try Self.rig { $0.tokens.ttlMilliseconds = ttl }
        let answers = try #require(rig.send([.debug(ExchangeKit.debugSecret, limitedUse: limitedUse)]).first)
        let payload = try Self.payload(answers)
        let life = try #require(payload["exp"]?.integer) - #require(payload["iat"]?.integer)
        #expect(life == seconds)
        #expect(answers.answer?["ttl"]?.string?.hasPrefix("\(seconds - 1)") == true || life == seconds)
    }

    @Test(arguments: [
        "6F1B0C39-3E0C-4C58-8F2E-0B6A4D0F1C12", "6F1B0C39-3E0C-4C58-8F2E-0B6A4D0F1C1", "ci", "",
        "6F1B0C39-3E0C-1C58-8F2E-0B6A4D0F1C11", "6F1B0C393E0C4C588F2E0B6A4D0F1C11",
    ])
    func `any other secret is refused as a failed attestation is`(secret: String) throws {
        let answers = try #require(Self.rig().send([.debug(secret)]).first)
        #expect(answers.summary == "debug-token-invalid" && answers.code == 403)
        #expect(answers.result?["status"]?["message"]?.string == "App attestation failed.")
        #expect(answers.answer == nil)
    }

    @Test func `a secret that is not a random UUID opens nothing, even if its hash is listed`() throws {
        let weak = DebugToken(hash: SHA256.hash(Array("ci".utf8)), name: "weak", until: .init(milliseconds: .max))
        let rig = try Self.rig { $0.debugTokens.append(weak) }
        #expect(try rig.send([.debug("ci")]).map(\.summary) == ["debug-token-invalid"])
    }

    @Test func `at its end a debug token is refused, and a moment before it is not`() throws {
        let rig = try Self.rig(until: ExchangeKit.start + 1_000)
        rig.time = ExchangeKit.start + 999
        #expect(try rig.send([.debug(ExchangeKit.debugSecret)]).map(\.summary) == ["accepted"])
        rig.time = ExchangeKit.start + 1_000
        let answers = try #require(rig.send([.debug(ExchangeKit.debugSecret)]).first)
        #expect(answers.summary == "debug-token-expired" && answers.code == 403 && answers.answer == nil)
    }

    @Test func `an app without debug tokens does not serve the verb, and another app's secret opens nothing`() throws {
        let rig = try Self.rig()
        let answers = try rig.send([.debug(ExchangeKit.debugSecret, resource: ExchangeKit.otherResource)])
        #expect(answers.map(\.summary) == ["unknown-method"])
        #expect(answers[0].event == nil)
        let unknown = try rig.send([.debug(ExchangeKit.debugSecret, resource: "projects/1/apps/x")])
        #expect(unknown.map(\.summary) == ["unknown-app"])
    }

    @Test(arguments: [
        #"{}"#, #"{"debug_token":5}"#, #"{"debug_token":"x","debugToken":"x"}"#,
        #"{"debug_token":"x","limited_use":1}"#,
        #"[]"#, #"null"#,
    ])
    func `a body without the secret's text is malformed`(body: String) throws {
        let path = "v1/\(ExchangeKit.resource):exchangeDebugToken"
        let request = ExchangeRequest(Array(#"{"path":"\#(path)","body":\#(body)}"#.utf8))
        #expect(try Self.rig().send([request]).map(\.summary) == ["malformed-request"])
    }

    @Test func `events and counts are its own, and name the entry but never the secret`() throws {
        let rig = try Self.rig()
        let answers = try rig.send([.debug(ExchangeKit.debugSecret), .debug("6F1B0C39-3E0C-4C58-8F2E-0B6A4D0F1C12")])
        #expect(answers.map(\.eventName) == ["DebugTokenSuccess", "DebugTokenFailure"])
        #expect(answers[0].event?["debugToken"]?.string == "ci" && answers[0].event?["device"] == nil)
        #expect(answers[1].event?["reason"]?.string == "debug-token-invalid")
        #expect(answers[1].event?["debugToken"] == nil)
        for output in rig.streams.outputs where output.stream != .ledger {
            let text = String(decoding: output.value ?? [], as: UTF8.self).lowercased()
            #expect(!text.contains(ExchangeKit.debugSecret.lowercased()))
        }
    }

    @Test func `it changes no state of keys, challenges or rates`() throws {
        let rig = try Self.rig()
        _ = try rig.send([.debug(ExchangeKit.debugSecret), .debug(ExchangeKit.debugSecret, limitedUse: true)])
        #expect(rig.streams.compacted.allSatisfy { $0.key.first == 4 })
    }

    @Test func `its token passes verifyAppCheckToken once where the app has debug tokens, and nowhere else`() throws {
        let rig = try Self.rig()
        let answers = try rig.send([.debug(ExchangeKit.debugSecret, limitedUse: true)])
        let text = try #require(answers[0].tokenText)
        #expect(try rig.send([.verification(of: text)]).map(\.summary) == ["accepted"])
        let token = Array(text.utf8)
        let verifier = TokenVerifier(keys: try ExchangeKit.keys().tokens)
        let now = EvaluationTime(milliseconds: ExchangeKit.start)
        func isAccepted(_ registry: Registry) -> Bool {
            if case .success = verifier.judge(token, in: registry, at: now) { true } else { false }
        }
        let entry = try ExchangeKit.debugToken()
        #expect(isAccepted(try ExchangeKit.registry { $0.debugTokens = [entry] }))
        #expect(!isAccepted(try ExchangeKit.registry()))
    }
}
