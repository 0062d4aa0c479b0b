internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import HTTPClient
internal import Lab
internal import Risk
internal import Settings
internal import TestKit
internal import Testing

@testable internal import Refresher

/// Calls to Apple's double over HTTP, and what becomes of its answers.
@Suite("Receipts: the call")
struct ReceiptCallerTests {
    private final class Rig {
        let apple: AppleLab
        let caller: ReceiptCaller

        init(_ fault: String? = nil, drips: Int = 3, milliseconds: Int = 30_000) throws {
            apple = try AppleLab(fault, drips: drips)
            var options = ReceiptCaller.options
            options.totalMilliseconds = milliseconds
            caller = try ReceiptCaller(apple.settings, options)
        }

        func ending(tag: UInt64 = 1) throws -> ExchangeEnding {
            let token = ProviderToken(apple.key, at: AppleLab.now).text
            caller.begin(AppleLab.receipt, .production, authorization: token, tag: tag)
            return try ReceiptCallerTests.ending(of: caller)
        }

        func outcome(_ ending: ExchangeEnding) throws -> CallOutcome {
            let (appID, verifier) = (AppID(AppleLab.appID), try AppleLab.verifier())
            let judgement = RefreshJudgement(sent: AppleLab.receipt, appID: appID, environment: .production)
            let sent = try #require(judgement)
            return ending.reply.outcome { sent.judge($0, at: AppleLab.now, by: verifier, engine: OpenSSLEngine()) }
        }
    }

    private static func ending(of caller: ReceiptCaller) throws -> ExchangeEnding {
        var (endings, watch): ([ExchangeEnding], _) = ([], StandstillWatch<Int>())
        while endings.isEmpty, !watch.isStill(0) { endings = caller.poll(milliseconds: 50) { AppleLab.now } }
        return try #require(endings.first)
    }

    @Test func `a receipt comes back as its successor, with the server's time and trace`() throws {
        let rig = try Rig()
        let ending = try rig.ending(tag: 77)
        #expect(ending.client.tag == 77 && ending.time == AppleLab.now && ending.client.microseconds > 0)
        let outcome = try rig.outcome(ending)
        guard case .verified(let verdict) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let answer = try #require(ending.reply.answer)
        #expect(verdict.refusal == nil && answer.status == 200)
        #expect(answer.traceID?.count == 16 && answer.serverTime != nil)
        #expect(rig.apple.server.account.statuses == [200: 1] && rig.caller.openCalls == 0)
    }

    /// What each answer means is AppleMenuTests' claim; these are the ways in which it comes.
    @Test(
        arguments: [
            ("not-modified", "early"), ("bad-payload", "bad-payload"), ("throttled-retry-after", "throttled"),
            ("unavailable", "unavailable"), ("redirect", "unexpected"), ("html", "invalid-answer"),
            ("megabyte", "invalid-answer"), ("dripping", "verified"), ("cut", "transport"),
            ("no-metric", "invalid-answer"),
        ] as [(String, String)]
    )
    func `each answer has its outcome`(fault: String, outcome: String) throws {
        let rig = try Rig(fault)
        let ending = try rig.ending()
        #expect(try rig.outcome(ending).name == outcome)
        #expect((ending.reply.answer?.retryAfterMilliseconds == 2_000) == (fault == "throttled-retry-after"))
        // A redirect is not followed.
        #expect(rig.apple.server.account.calls == 1)
    }

    @Test func `a body is read as far as shows that it is too long`() throws {
        let ending = try Rig("megabyte").ending()
        guard case .answered(let answer) = ending.client.outcome else {
            Issue.record("no answer")
            return
        }
        #expect(answer.body.count == ReceiptAnswer.mostBodyBytes + 1)
        #expect(ending.reply.answer?.content == .other(.invalid(.tooLong)))
    }

    @Test func `an answer that drips for longer than a call may take is a time-out`() throws {
        let rig = try Rig("dripping", drips: 40, milliseconds: 300)
        #expect(try rig.ending().reply == .timedOut)
        #expect(rig.caller.openCalls == 0)
    }

    @Test func `nobody there, and authorities that are absent, are told`() throws {
        var settings = RiskSettings()
        settings.production = "http://127.0.0.1:1/v1/attestationData"
        let caller = try ReceiptCaller(settings)
        caller.begin([1], .production, authorization: [0x61], tag: 1)
        #expect(try Self.ending(of: caller).reply == .failed)
        settings.authorities = "/nowhere/roots.pem"
        #expect(throws: CommandFault.self) { try ReceiptCaller(settings) }
    }
}
