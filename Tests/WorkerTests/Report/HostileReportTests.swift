internal import BrokerKit
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import Log
internal import TestKit
internal import Testing

@testable internal import AppAttest
@testable internal import AppCheck
@testable internal import Pipeline
@testable internal import Worker

@Suite("A report on hostile records")
struct HostileReportTests {
    private static let settings = PipelineSettings(registry: registry, limits: RequestLimits())
    private static let registry: Registry = {
        let app = RegisteredApp(
            projectNumber: "1",
            projectID: nil,
            appID: hostile[0],
            expectations: Expectations(appIDs: [AppID("T.b")])
        )
        return (try? Registry(apps: [app])) ?? Registry()
    }()
    private static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "\u{202E}evil\u{2066}", "]]>-->",
        "a\u{0}\u{1}\u{7F}\u{85}b", "&lt;&#x3c;", "zero\u{200B}width\u{FEFF}", "z\u{301}\u{302}\u{303}\u{304}algo",
        "line\u{2028}end\nnext", "\u{FFFE}\u{E000}",
    ]

    private static func facts() throws -> ReplayFacts {
        let ca = ExchangeKit.ca
        let anchors = try TrustAnchors(
            attestationPEM: [ca.attestationAnchorsPEM],
            receiptPEM: [ca.receiptAnchorPEM]
        )
        return ReplayFacts(
            settings,
            explainer: Explainer(settings: settings, anchors: anchors),
            outcomes: OutcomeList()
        )
    }

    private static func observation(
        _ index: Int,
        _ bundleVersion: String,
        refused: Bool = true,
        time: Int64? = nil
    ) -> Observation {
        let keyID = KeyID(SHA256.hash(Array("key \(index % 700)".utf8)))
        let request = Request(
            path: ExactText("v1/projects/1/apps/\(hostile[0]):verifyAssertion"),
            resource: .app(0, appID: ExactText(hostile[0])),
            method: .verifyAssertion,
            keyID: keyID,
            body: .object(.assertion([1]), .clientDataHash([2]))
        )
        let inbound = InboundRecord(
            topic: bundleVersion,
            partition: Int32(index % 4),
            offset: Int64(index),
            timestamp: time ?? Int64(1_763_640_000_000 + index * 1000),
            key: keyID.recordKey,
            value: nil,
            headers: []
        )
        let record = DecodedRecord(
            record: inbound,
            requestID: ExactText(bundleVersion),
            shape: .request(request),
            valueDigest: SHA256.hash([]),
            clockReason: nil,
            claimedKey: nil,
            traceHeaders: [],
            installationID: index % 3 == 0 ? ExactText("installation \(index % 500)") : nil
        )
        let reason = Reason.allCases[index % Reason.allCases.count]
        let evidence = AssertionEvidence(
            appID: AppID("T.b"),
            counter: UInt32(index),
            bundleVersion: ExactText(bundleVersion)
        )
        let verdict = Verdict(
            outcome: refused ? .refused(reason, reason.status(appID: nil)) : .accepted,
            environment: .production,
            previousCounter: 5
        )
        return Observation(
            record: record,
            finding: .assertion(.success(evidence)),
            verdict: verdict,
            state: StateThen(streamTime: EvaluationTime(milliseconds: 0), rememberedTokens: 0)
        )
    }

    private static func run(_ path: String = "capture.ndjson") -> RunFacts {
        RunFacts(
            version: "1",
            configuration: path,
            captures: [(path, 7)],
            keys: nil,
            old: nil,
            mints: false,
            seconds: 1,
            lanes: 1,
            engine: "openssl",
            warnings: [path],
            skippedLines: nil
        ).withCommand
    }

    @Test func `Hostile texts come out inert, with what is invisible shown`() throws {
        let facts = try Self.facts()
        for (index, text) in Self.hostile.enumerated() { facts.observer(Self.observation(index, text)) }
        let page = ReplayReport(facts: facts, run: Self.run("</code><script>'\"")).html
        let markup = StrictMarkup(page)
        #expect(markup.fault == nil)
        #expect(markup.elements["script"] == nil && markup.elements["img"] == nil)
        let text = String(decoding: page, as: UTF8.self)
        for part in [
            "&lt;script&gt;alert(1)&lt;/script&gt;", "[U+202E]evil[U+2066]", "a[U+0000][U+0001][U+007F][U+0085]b",
            "&amp;lt;&amp;#x3c;", "zero[U+200B]width[U+FEFF]", "line[U+2028]end[U+000A]next", "[U+FFFE][U+E000]",
            "[U+0303][U+0304]algo",
        ] { #expect(text.contains(part), "\(part)") }
        for scalar in ["\u{202E}", "\u{2066}", "\u{200B}", "\u{FEFF}", "\u{85}", "\u{2028}"] {
            #expect(!text.unicodeScalars.contains(scalar.unicodeScalars.first ?? " "))
        }
    }

    @Test func `A text of 64 kB is cut, and says how long it was`() {
        let shown = ShownText.of(String(repeating: "x", count: 65_536))
        #expect(shown.hasSuffix("… (65,536 bytes)") && shown.count < 200)
        #expect(ShownText.of(String(repeating: "y", count: 160)).count == 160)
        #expect(ShownText.whole(String(repeating: "x", count: 65_536)).count == 65_536)
    }

    @Test func `A path with quotes is one word of the command`() {
        #expect(RunFacts.quoted("it's here") == "'it'\\''s here'")
        #expect(RunFacts.quoted("a/b-c_1.ndjson") == "a/b-c_1.ndjson")
        #expect(RunFacts.quoted("") == "''" && RunFacts.quoted("$(x)") == "'$(x)'")
        var run = Self.run("a b")
        #expect(run.explains("0/1") == "attest-worker inspect --config 'a b' --input 'a b' --record 0/1")
        run.captures.append(("c", nil))
        run.keys = "k"
        let command = "attest-worker inspect --config 'a b' --keys k --input - --record 0/1"
        #expect(run.explains("0/1") == "cat 'a b' c | " + command)
    }

    @Test func `The page stays small with 2,000 bundle versions of 255 bytes under every reason`() throws {
        let facts = try Self.facts()
        for index in 0..<40_000 {
            let name = "<\"'&\u{202E}\(index % 2000)>"
            let version = name + String(repeating: "<", count: 255 - name.utf8.count)
            facts.observer(Self.observation(index, version, refused: index % 5 != 0, time: Int64(index) * 977_777_777))
        }
        let page = ReplayReport(facts: facts, run: Self.run(String(repeating: "p'", count: 2000))).html
        #expect(page.count < 2_000_000)
        #expect(String(decoding: page, as: UTF8.self).contains("<code>--record 1/1</code>"))
        #expect(StrictMarkup(page).fault == nil)
        #expect(facts.total == 40_000)
    }

    @Test func `Counters are shown by their distance from the stored one`() throws {
        let facts = try Self.facts()
        let greater = Reason.allCases.firstIndex(of: .counterNotGreater) ?? 0
        facts.observer(Self.observation(6, "1", refused: false))
        facts.observer(Self.observation(greater, "1"))
        let (accepted, refused) = (facts.counters.counts[0], facts.counters.counts[1])
        #expect(accepted.reduce(0, +) == 1 && accepted[facts.counters.names.firstIndex(of: "+1") ?? 0] == 1)
        #expect(refused.reduce(0, +) == 1 && refused[facts.counters.names.firstIndex(of: "+10 to +99") ?? 0] == 1)
    }
}
