internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import HTTPClient
internal import JSON
internal import Risk
internal import Settings
internal import TestKit
internal import Testing

@testable internal import Lab
@testable internal import Refresher

/// Calls to Apple's double over HTTP, and what becomes of its answers.
@Suite("Receipts: the call")
struct ReceiptCallerTests {
    private static let ca = LabCA(seed: 1)
    private static let now = EvaluationTime(milliseconds: 1_791_806_400_000)
    private static let appID = "ABCDE12345.com.example.app"
    private static let device = FakeDevice(ca: ca, appID: appID, seed: 7)
    private static let receipt = device.receipt(
        .attest,
        clientDataHash: SHA256.hash([1]).bytes,
        at: EvaluationTime(milliseconds: now.milliseconds - 3_600_000)
    )

    /// A server whose clock stands, a caller, and the team's key.
    private final class Rig {
        let server: LabAppleServer
        let caller: ReceiptCaller
        let key: ProviderKey
        private let judgement: RefreshJudgement

        init(_ fault: String? = nil, drips: Int = 3, milliseconds: Int = 30_000) throws {
            let signing = try SigningKey.generate(.p256)
            key = try #require(ProviderKey(team: "ABCDE12345", kid: "K1", key: signing))
            let known = DeviceCheckKey(team: "ABCDE12345", kid: "K1", publicKey: signing.publicKey)
            var apple = LabApple.Settings(keys: [known])
            if let fault { (apple.faults, apple.faultShare) = ([try #require(AppleFault.named(fault))], 1) }
            server = try LabAppleServer(LabApple(ca, apple), port: 0, drips: drips) { now }
            var settings = RiskSettings()
            settings.production = server.url
            var limits = ReceiptCaller.Limits()
            limits.totalMilliseconds = milliseconds
            caller = try ReceiptCaller(settings, limits)
            let appID = AppID(ReceiptCallerTests.appID)
            judgement = try #require(RefreshJudgement(sent: receipt, appID: appID, environment: .production))
        }

        func ending(_ receipt: [UInt8] = ReceiptCallerTests.receipt, tag: UInt64 = 1) throws -> ExchangeEnding {
            let token = ProviderToken(key, at: now).text
            let call = ExchangeCall(tag: tag, environment: .production, receipt: receipt, authorization: token)
            caller.begin(call)
            var (endings, watch): ([ExchangeEnding], _) = ([], StandstillWatch<Int>())
            while endings.isEmpty, !watch.isStill(0) { endings = caller.poll(milliseconds: 50) { now } }
            return try #require(endings.first)
        }

        func outcome(_ ending: ExchangeEnding) throws -> CallOutcome {
            let verifier = ObjectVerifier(anchors: try ca.anchors())
            return ending.outcome { judgement.judge($0, at: now, by: verifier, engine: OpenSSLEngine()) }
        }
    }

    @Test func `a receipt comes back as its successor, with the server's time and trace`() throws {
        let rig = try Rig()
        let ending = try rig.ending(tag: 77)
        let outcome = try rig.outcome(ending)
        #expect(ending.tag == 77 && ending.time == Self.now && ending.microseconds > 0)
        guard case .verified(let verdict) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(verdict.refusal == nil && ending.answer?.status == 200)
        #expect(ending.answer?.traceID?.count == 16 && ending.answer?.serverTime != nil)
        #expect(rig.server.account.statuses == [200: 1] && rig.caller.openCalls == 0)
    }

    @Test func `calls use one connection again`() throws {
        let rig = try Rig()
        for tag in 1...5 { #expect(try rig.ending(tag: UInt64(tag)).answer?.status == 200) }
        #expect(rig.caller.connectionsMade == 1 && rig.server.account.calls == 5)
    }

    @Test(
        arguments: [
            ("not-modified", "early"), ("incorrect-environment", "incorrect-environment"),
            ("bad-payload", "bad-payload"), ("not-found", "absent"), ("token-expired", "unauthorized"),
            ("throttled", "throttled"), ("throttled-retry-after", "throttled"), ("server-error", "unavailable"),
            ("unavailable", "unavailable"), ("redirect", "unexpected"), ("accepted", "unexpected"),
            ("html", "invalid-answer"), ("megabyte", "invalid-answer"), ("dripping", "verified"),
            ("cut", "transport"), ("no-metric", "invalid-answer"), ("other-token", "invalid-answer"),
            ("attest", "invalid-answer"), ("too-old", "invalid-answer"),
        ] as [(String, String)]
    )
    func `each answer has its outcome`(fault: String, outcome: String) throws {
        let rig = try Rig(fault)
        let ending = try rig.ending()
        #expect(try rig.outcome(ending).name == outcome)
        #expect((ending.answer?.retryAfterMilliseconds == 2_000) == (fault == "throttled-retry-after"))
        // A redirect is not followed.
        #expect(rig.server.account.calls == 1)
    }

    @Test(arguments: ["no-metric", "negative-metric", "long-metric"])
    func `an answer without a metric is refused with the worker's reason`(fault: String) throws {
        let rig = try Rig(fault)
        guard case .notGenuine(let refusal) = try rig.outcome(try rig.ending()) else {
            Issue.record("taken")
            return
        }
        #expect(refusal == .metric && refusal.code == Reason.receiptMetric.code)
    }

    @Test func `a body is read as far as shows that it is too long`() throws {
        let ending = try Rig("megabyte").ending()
        guard case .answered(let answer, let raw) = ending.result else {
            Issue.record("no answer")
            return
        }
        #expect(raw.body.count == ReceiptAnswer.mostBodyBytes + 1 && answer.content == .invalid(.tooLong))
    }

    @Test func `an answer that drips for longer than a call may take is a time-out`() throws {
        let rig = try Rig("dripping", drips: 40, milliseconds: 300)
        let ending = try rig.ending()
        #expect(ending.answer == nil && rig.caller.openCalls == 0)
        #expect(try rig.outcome(ending) == .timedOut)
    }

    @Test func `nobody there, and authorities that are absent, are told`() throws {
        var settings = RiskSettings()
        settings.production = "http://127.0.0.1:1/v1/attestationData"
        let caller = try ReceiptCaller(settings)
        caller.begin(ExchangeCall(tag: 1, environment: .production, receipt: [1], authorization: [0x61]))
        var (endings, watch): ([ExchangeEnding], _) = ([], StandstillWatch<Int>())
        while endings.isEmpty, !watch.isStill(0) { endings = caller.poll(milliseconds: 50) { Self.now } }
        let ending = try #require(endings.first)
        #expect(ending.outcome { _ in .failure(.notLater) } == .transport)
        settings.authorities = "/nowhere/roots.pem"
        #expect(throws: CommandFault.self) { try ReceiptCaller(settings) }
    }
}
