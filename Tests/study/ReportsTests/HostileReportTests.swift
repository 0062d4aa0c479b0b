internal import Crypto
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Streams
internal import TestKit
internal import Testing

@testable internal import AppAttest
@testable internal import AppCheck
@testable internal import Pipeline
@testable internal import Reports

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
        for own: Reason? = nil,
        time: Int64? = nil
    ) -> Observation {
        let keyID = KeyID(SHA256.hash(Array("key \(index % 700)".utf8)))
        let request = Request(
            path: ExactText("v1/projects/1/apps/\(hostile[0]):verifyAssertion"),
            resource: .app(0, appID: ExactText(hostile[0])),
            verb: .verifyAssertion,
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
            headers: HeaderReading(
                requestID: ExactText(bundleVersion),
                installationID: index % 3 == 0 ? ExactText("installation \(index % 500)") : nil
            ),
            request: request,
            otherShape: nil,
            valueDigest: SHA256.hash([]),
            clockReason: nil
        )
        let reason = own ?? Reason.allCases[index % Reason.allCases.count]
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
            state: StateBefore(streamTime: EvaluationTime(milliseconds: 0), rememberedTokens: 0)
        )
    }

    private static func run(_ path: String = "capture.ndjson") -> RunFacts {
        var run = RunFacts(version: "1", configuration: path)
        (run.captures, run.warnings) = ([(path, 7)], [path])
        (run.seconds, run.engine) = (1, "openssl")
        return run
    }

    @Test func `hostile texts come out inert, with what is invisible shown`() throws {
        let facts = try Self.facts()
        for (index, text) in Self.hostile.enumerated() { facts.observer(Self.observation(index, text)) }
        let page = ReplayReport(facts: facts, run: Self.run("</code><script>'\"")).report.html
        let markup = StrictMarkup(page)
        #expect(markup.fault == nil)
        #expect(markup.elements["script"] == 2 && markup.elements["img"] == nil)
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

    @Test func `a text of 64 kB is cut, and says how long it was`() {
        let shown = ShownText.of(String(repeating: "x", count: 65_536))
        #expect(shown.hasSuffix("… (65,536 bytes)") && shown.count < 200)
        #expect(ShownText.of(String(repeating: "y", count: 160)).count == 160)
        #expect(ShownText.whole(String(repeating: "x", count: 65_536)).count == 65_536)
    }

    @Test func `a path with quotes is one word of the command`() {
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

    @Test func `the page stays small with 2,000 bundle versions of 255 bytes under every reason`() throws {
        let facts = try Self.facts()
        for index in 0..<40_000 {
            let name = "<\"'&\u{202E}\(index % 2000)>"
            let version = name + String(repeating: "<", count: 255 - name.utf8.count)
            facts.observer(Self.observation(index, version, refused: index % 5 != 0, time: Int64(index) * 977_777_777))
        }
        let page = ReplayReport(facts: facts, run: Self.run(String(repeating: "p'", count: 2000))).report.html
        #expect(page.count < 2_000_000)
        #expect(String(decoding: page, as: UTF8.self).contains(">--record 1/1</code>"))
        #expect(StrictMarkup(page).fault == nil)
        #expect(facts.total == 40_000)
    }

    @Test func `a sentence of the diagnosis holds whatever values are called, and those beyond seven are folded`()
        throws
    {
        let facts = try Self.facts()
        let names =
            Self.hostile + ["</script><script>alert(1)</script>", String(repeating: "<\u{202E}", count: 16_384)]
        for index in 0..<600 {
            let name = index < 144 ? names[index / 12] : "1"
            facts.observer(Self.observation(index, name, refused: index < 144, for: .keyMismatch))
        }
        let report = ReplayReport(facts: facts, run: Self.run()).report
        let (page, markup) = (String(decoding: report.html, as: UTF8.self), StrictMarkup(report.html))
        #expect(markup.fault == nil && markup.elements["script"] == 2 && page.utf8.count < 300_000)
        #expect(!page.unicodeScalars.contains("\u{202E}"))
        let sentence = "All 12 devices with bundle version "
        #expect(
            page.ranges(of: "<p class=\"lead\">\(sentence)").count == 7
                && page.contains("<p>And 5 smaller ones: bundle version ")
        )
        let root = try JSONDocument(parsing: report.json, maxNodes: report.json.count).root
        let findings = try #require(root["diagnosis"]?["findings"]?.elements)
        #expect(findings.count == 12 && findings.allSatisfy { $0["sentence"]?.string?.hasPrefix(sentence) == true })
        #expect(findings.allSatisfy { ($0["trait"]?["value"]?.string?.utf8.count ?? 0) < 1000 })
        #expect(SchemaCheck(isClosed: true).violation(of: root, by: Report.schema) == nil)
    }

    @Test func `counters are shown by their distance from the stored one`() throws {
        let facts = try Self.facts()
        let greater = Reason.allCases.firstIndex(of: .counterNotGreater) ?? 0
        facts.observer(Self.observation(6, "1", refused: false))
        facts.observer(Self.observation(greater, "1"))
        let (accepted, refused) = (facts.counters.counts[0], facts.counters.counts[1])
        #expect(accepted.reduce(0, +) == 1 && accepted[facts.counters.names.firstIndex(of: "+1") ?? 0] == 1)
        #expect(refused.reduce(0, +) == 1 && refused[facts.counters.names.firstIndex(of: "+10 to +99") ?? 0] == 1)
    }

    /// A report with this text in each of its fields.
    private static func report(of text: String) -> Report {
        let axis = TimeAxis(start: 1_763_640_000_000, width: 60_000, count: 2)
        let (series, legend) = ([Report.Series(text, .blue, [1, 2], text: text)], [(hue: Report.Hue.blue, name: text)])
        let charts: [Report.Chart] = [
            .columns(text, axis, series, unit: text), .rates(text, axis, [(0, 0), (1, 2)], bound: 0.1),
            .lines(text, text, x: text, y: text, steps: [1, 2], series),
        ]
        var row = Report.Row([.text(text), .code(text)])
        (row.drawn, row.command) = (.list([.list([.count(axis.start), .count(0)])]), text)
        var table = Report.Table([text, text], [.group(text), row])
        table.drawing = .marks(axis.start...axis.start + 1, kinds: legend)
        table.legend = legend
        var entry = Report.Entry(title: text, details: [text], lead: text, notes: [text], command: text)
        entry.pairs = [(text, text, text)]
        var report = Report(title: text, lead: text)
        report.own = [(text, .text(text))]
        report.add(
            text,
            text,
            [
                .heading(text), .text(text), .lead(text), .tiles([Report.Tile(text, .text(text), text, .pink)]),
                .table(table), .reasons([entry]), .records([entry]),
            ] + charts.map { .chart($0) }
        )
        return report
    }

    @Test(
        arguments: hostile + [
            "</script><script>alert(1)</script>", "</style><b onclick='a'>", "<!--<script>", "\\u003C",
        ]
    )
    func `a text in any field is data: nothing of it is markup, and tools read it as it was`(text: String) throws {
        let report = Self.report(of: text)
        let (markup, plain) = (StrictMarkup(report.html), StrictMarkup(Self.report(of: "plain").html))
        #expect(markup.fault == nil)
        #expect(markup.elements == plain.elements && markup.elements["script"] == 2)
        #expect(markup.raw.count == 3 && markup.raw[0] == plain.raw[0] && markup.raw[2] == plain.raw[2])
        let facts = try JSONDocument(parsing: Array(markup.raw[1].utf8)).root
        let whole = try JSONDocument(parsing: report.json).root
        #expect(whole.members.first?.value.string == text && whole.members.count == 4)
        for root in [facts, whole] {
            #expect(root["title"]?.string == text)
            let parts = try #require(root["sections"]?.elements.first?["parts"]?.elements)
            #expect(parts.count == 10 && parts[1]["text"]?.string == text)
            #expect(parts[9]["chart"]?["series"]?.elements.first?["name"]?.string == text)
        }
        #expect(SchemaCheck(isClosed: true).violation(of: facts, by: Report.schema) == nil)
    }

    @Test func `a page runs its own script and nothing else`() {
        let markup = StrictMarkup(Self.report(of: "plain").html)
        func hash(_ text: String) -> String {
            "'sha256-\(Data(SHA256.hash(Array(text.utf8)).bytes).base64EncodedString())'"
        }
        let policy =
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src \(hash(markup.raw[0])); "
            + "script-src \(hash(markup.raw[2]))"
        let page = String(decoding: Self.report(of: "plain").html, as: UTF8.self)
        #expect(page.contains("http-equiv=\"Content-Security-Policy\" content=\"\(policy)\""))
        for word in ["innerHTML", "eval", "document.write", "fetch", "import", "src=", "url("] {
            #expect(!markup.raw[2].contains(word) && !page.contains("url("), "\(word)")
        }
    }
}
