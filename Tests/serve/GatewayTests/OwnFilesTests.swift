import AppAttest
import AppCheck
import Crypto
import DeviceLab
import HTTP
import JSON
import Kafka
import KafkaPorts
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Gateway

@Suite("A worker's refusal that this gateway's apps.json contradicts")
struct OwnFilesTests {
    typealias Change = @Sendable (inout RegisteredApp) -> Void

    /// What an app accepts, before and after, such that the newer file accepts the device and the older one does not.
    static let changes: [(reason: String, old: Change, new: Change)] = [
        ("app-id-mismatch", { $0.expectations.appIDs = [AppID("ABCDE12345.old")] }, { _ in }),
        ("environment-mismatch", { $0.expectations.environments = [.development] }, { _ in }),
        (
            "category-not-allowed", { $0.expectations.categories.allow = [9] },
            { $0.expectations.categories.allow = [9, 4] }
        ),
        (
            "bundle-version-not-allowed", { $0.expectations.bundleVersions.allow = ["0"] },
            { $0.expectations.bundleVersions.allow = ["0", "1314"] }
        ),
    ]

    /// The answers to one device's attestation, through a gateway and a worker with these rules.
    private func exchange(gateway: Change, worker: Change, isOnReplies: Bool) throws -> (Int?, Int, String?) {
        let rig = try GatewayRig(app: gateway, replyTo: isOnReplies ? 0 : nil)
        var settings = try ExchangeKit.settings(adjust: worker)
        settings.replyPartitions = 1
        let site = try ExchangeRig(settings)
        let device = FakeDevice(ExchangeKit.model, seed: 1)
        let responder = try rig.send(.attestation(of: device, challenge: site.challenge()))
        let answers = try rig.relay(#require(rig.requests.first), to: site)
        return (responder.reply?.status, rig.gateway.counts.workerBehind, answers.reason)
    }

    @Test(arguments: Array(changes.indices), [false, true])
    func `is 503 and counted; what neither accepts is 403, and what the worker accepts 200`(
        change: Int,
        isOnReplies: Bool
    ) throws {
        let (reason, old, new) = Self.changes[change]
        let behind = try exchange(gateway: new, worker: old, isOnReplies: isOnReplies)
        #expect(behind == (503, 1, reason))
        let both = try exchange(gateway: old, worker: old, isOnReplies: isOnReplies)
        #expect(both == (403, 0, reason))
        let ahead = try exchange(gateway: old, worker: new, isOnReplies: isOnReplies)
        #expect(ahead == (200, 0, nil))
    }

    @Test(arguments: Reason.allCases, [ReceiptPolicy.report, .require])
    func `no refusal that only the device can have caused is taken back`(
        reason: Reason,
        receipts: ReceiptPolicy
    ) throws {
        let rig = try GatewayRig(app: { $0.expectations.receipt = receipts })
        let responder = try rig.send(.attestation())
        let status = Status(code: 403, status: "PERMISSION_DENIED", message: "App attestation failed.")
        rig.gateway.note(results: [rig.result(of: try #require(rig.requests.first), status, reason: reason.code)])
        let byFiles = Self.changes.map(\.reason) + ["category-missing", "bundle-version-missing"]
        let exceptions = ["receipt:client-hash-mismatch", "receipt:metric", "receipt:superseded"]
        let isReceipt = reason.code.hasPrefix("receipt:") && !exceptions.contains(reason.code)
        let isOfFiles = byFiles.contains(reason.code) || isReceipt && receipts != .require
        #expect(responder.reply?.status == (isOfFiles ? 503 : 403), "\(reason.code)")
    }

    @Test(arguments: [
        ("token-invalid", "Kx3_Qa", ExchangeKit.appID, 503), ("token-invalid", "Kx3_Qa", "1:1:ios:next", 503),
        ("token-invalid", "Kx3_Qa", "1:1:ios:gone", 403), ("token-invalid", "unknown", ExchangeKit.appID, 403),
        ("token-invalid", "Kx3_Qa", "debug", 403), ("token-invalid", "Kx3_Qa", "next's session", 403),
        ("token-invalid", "Kx3_Qa", "own session", 403),
        ("token-invalid", "Kx3_Qa", "revoked", 403), ("banned", "Kx3_Qa", ExchangeKit.appID, 403),
    ])
    func `a token that the worker may not know yet is 503, and no other`(
        reason: String,
        kid: String,
        app: String,
        expected: Int
    ) throws {
        let rig = try GatewayRig()
        let gone = ExactText("projects/\(ExchangeKit.projectNumber)/apps/1:1:ios:gone")
        let apps = try ExchangeKit.registry { $0.tokens.sessionTokens = .refuse }.apps
        let registry = try Registry(apps: apps, retired: [gone])
        let isListed = ["debug", "revoked", "own session"].contains(app)
        rig.gateway.replace(try GatewayRig.rules(registry, challenges: [2], revoked: app == "revoked" ? kid : nil))
        var claims = Tokens.claims(limitedUse: !app.hasSuffix("session"), at: ExchangeKit.start)
        claims.subject = isListed ? ExchangeKit.appID : app
        claims.isDebug = app == "debug"
        let token = TokenMinter.mint(claims, with: try ExchangeKit.rs256(kid))
        let body = Array(#"{"app_check_token":"\#(String(decoding: token, as: UTF8.self))"}"#.utf8)
        let path = "/v1beta/projects/\(ExchangeKit.projectID):verifyAppCheckToken"
        let responder = rig.call("POST", path, GatewayRig.bearer, body: body)
        let status = Status(code: 403, status: "PERMISSION_DENIED", message: "App attestation failed.")
        rig.gateway.note(results: [rig.result(of: try #require(rig.requests.first), status, reason: reason)])
        #expect(responder.reply?.status == expected)
    }

    @Test(arguments: [("debug-token-invalid", 60_000), ("debug-token-expired", 60_000), ("debug-token-expired", 0)])
    func `a debug token that the worker does not list yet is 503`(reason: String, left: Int64) throws {
        let token = try ExchangeKit.debugToken(until: ExchangeKit.start + left)
        let rig = try GatewayRig(app: {
            $0.debugTokens = [token]
            $0.expectations.environments = [.development]
        })
        let body = Array(#"{"debug_token":"\#(ExchangeKit.debugSecret)"}"#.utf8)
        let responder = rig.call("POST", "/v1/\(ExchangeKit.resource):exchangeDebugToken", body: body)
        let status = Status(code: 403, status: "PERMISSION_DENIED", message: "App attestation failed.")
        rig.gateway.note(results: [rig.result(of: try #require(rig.requests.first), status, reason: reason)])
        #expect(responder.reply?.status == (left > 0 ? 503 : 403))
    }
}

@Suite("A key set that lacks the workers' key")
struct OldKeySetTests {
    /// A token of another key than the set's.
    private static func token(_ kid: String, at milliseconds: Int64 = ExchangeKit.start) throws -> String {
        let claims = Tokens.claims(limitedUse: true, at: milliseconds)
        return String(decoding: TokenMinter.mint(claims, with: try ExchangeKit.rs256(kid)), as: UTF8.self)
    }

    private static func verify(_ rig: GatewayRig, _ token: String) -> Int? {
        rig.call("GET", "/v1/verify?project=\(ExchangeKit.projectNumber)", [("x-firebase-appcheck", token)]).reply?
            .status
    }

    @Test(
        arguments: ["{\"token\":\"TOKEN\"}", "{\"artifact\":\"AA\",\"appCheckToken\":{\"token\":\"TOKEN\"}}"],
        ["Kx3_Qa", "Next"]
    )
    func `a token that is passed on shows it`(answer: String, kid: String) throws {
        let rig = try GatewayRig()
        for seed: UInt64 in 1...3 {
            let responder = try rig.send(.attestation(seed))
            let sent = try #require(rig.requests.last)
            rig.gateway.note(results: [rig.result(of: sent)])
            rig.gateway.note(tokens: [rig.token(of: sent, answer.replacing("TOKEN", with: try Self.token(kid)))])
            #expect(responder.reply?.status == 200)
        }
        let found = rig.gateway.takeUnknown().key
        // One token in a second is looked at.
        #expect(found == (kid == "Next" ? NamedCalls(count: 1, name: "Next") : nil))
    }

    @Test func `a token that a proxy asks about shows it, unless it is expired, revoked or of no listed project`()
        throws
    {
        let rig = try GatewayRig()
        #expect(Self.verify(rig, try Self.token("Next")) == 401)
        #expect(rig.gateway.takeUnknown().key == NamedCalls(count: 1, name: "Next"))
        rig.pass(milliseconds: 60_000)
        #expect(Self.verify(rig, try Self.token("Old", at: ExchangeKit.start - 900_000)) == 401)
        var claims = Tokens.claims(limitedUse: true, at: ExchangeKit.start + 60_000)
        claims.projectNumber = "1"
        let foreign = TokenMinter.mint(claims, with: try ExchangeKit.rs256("Foreign"))
        #expect(Self.verify(rig, String(decoding: foreign, as: UTF8.self)) == 401)
        rig.gateway.replace(try GatewayRig.rules(revoked: "Stolen"))
        #expect(Self.verify(rig, try Self.token("Stolen", at: ExchangeKit.start + 60_000)) == 401)
        #expect(rig.gateway.takeUnknown().key == nil)
        #expect(rig.gateway.counts.refusedTokens[.key] == 3)
    }
}

@Suite("The names that no file has")
struct NameTallyTests {
    @Test func `a line a minute names the one that most calls bring, however many others come`() {
        var tally = NameTally()
        for index in 0..<100_000 { tally.note(index.isMultiple(of: 20) ? "app" : ExactText("junk-\(index)")) }
        #expect(tally.account(at: 5) == NamedCalls(count: 100_000, name: "app"))
        #expect(tally.account(at: 6) == nil)
        tally.note("late")
        #expect(tally.account(at: 5 + NameTally.period - 1) == nil)
        #expect(tally.account(at: 5 + NameTally.period) == NamedCalls(count: 1, name: "late"))
        #expect(tally.account(at: 9 * NameTally.period) == nil)
        for name in ["b", "c", "a", "d", "c", "a", "d", "b"] as [ExactText] { tally.note(name) }
        #expect(tally.account(at: 9 * NameTally.period)?.name == "a", "of several the first by its bytes")
    }

    @Test func `where no name comes often, the last one is named`() {
        var tally = NameTally()
        for index in 0...NameTally.most { tally.note(ExactText("\(index)")) }
        #expect(tally.account(at: 0) == NamedCalls(count: NameTally.most + 1, name: ExactText("\(NameTally.most)")))
    }
}
