internal import Foundation
internal import JSON
internal import Reports
internal import Settings
internal import TestKit
internal import Testing

@Suite("The report of a replay")
struct ReplayReportTests {
    private let capture: ReasonCapture

    init() throws { capture = try ReasonCapture.shared.get() }

    /// A tile's value.
    private func tile(_ name: String) throws -> String {
        let page = capture.page
        let start = try #require(page.firstRange(of: "<span>\(name)</span><b>"))
        return String(page[start.upperBound...].prefix { $0 != "<" })
    }

    @Test func `the tiles have the sums of the results and dead letters, and tell metrics and receipts`() throws {
        #expect(try tile("Risk metrics known") == "2")
        #expect(try tile("Keys above the limit") == "1")
        #expect(try tile("Receipts refused") == "3")
        let all = capture.outcomes.values
        #expect(try tile("Records") == all.count.grouped)
        #expect(try tile("Accepted") == all.count { $0.reason == nil }.grouped)
        let deferred = all.count { $0.reason == "no-active-key" }
        let letters = all.count { $0.isLetter }
        #expect(deferred > 0 && letters > 0)
        #expect(try tile("Deferred") == deferred.grouped)
        #expect(try tile("Dead letters") == letters.grouped)
        let refused = all.count { $0.reason != nil } - deferred - letters
        #expect(try tile("Refused") == refused.grouped)
    }

    @Test func `each reason has the records and devices that the results have, and its text`() throws {
        let reasons = Dictionary(grouping: capture.outcomes.values.filter { $0.reason != nil }) { $0.reason ?? "" }
        #expect(reasons.count > 60)
        for (reason, found) in reasons {
            let devices = Set(found.compactMap(\.keyID)).count
            let named = devices > 0 ? devices.counted("device") : "no device is named"
            var heading = "<code>\(reason)</code><span>\(found.count.counted("record"))</span>"
            heading += found[0].isLetter ? "</h3>" : "<span>\(named)</span>"
            #expect(capture.page.contains(heading), "\(heading)")
            let entry = try #require(ReasonEntry.find(reason))
            let meaning = ReasonText.plain(entry.text.meaning).replacing("'", with: "&#39;")
            #expect(capture.page.contains("<dd><bdi>\(meaning)</bdi></dd>"), "\(reason)")
        }
    }

    @Test func `each reason has a record with the command that explains it, and the command works`() throws {
        for (offset, outcome) in capture.outcomes {
            guard let reason = outcome.reason else { continue }
            let command = "--input \(capture.lab.file("capture.ndjson")) --record 0/\(offset)</code>"
            let isListed = capture.page.contains(command)
            let first = capture.outcomes.filter { $0.value.reason == reason }.keys.min()
            if offset == first { #expect(isListed, "\(reason): \(offset)") }
        }
        let start = try #require(capture.page.firstRange(of: "<code class=\"command\">attest-worker "))
        let line = capture.page[start.upperBound...].prefix { $0 != "<" }
        let (code, transcript) = Transcript.run(line.split(separator: " ").map(String.init))
        #expect(code == 0 && transcript.output.contains("FAILED"), "\(line): \(transcript.error)")
    }

    @Test func `the page is well-formed, loads nothing, runs its own script alone, and is small`() throws {
        let markup = StrictMarkup(Array(capture.page.utf8))
        #expect(markup.fault == nil)
        #expect(markup.elements["script"] == 2 && markup.elements["img"] == nil && markup.elements["link"] == nil)
        #expect(markup.elements["section"] == 10 && (markup.elements["table"] ?? 0) > 8)
        #expect(markup.links.count == 10 && markup.links.allSatisfy { $0.hasPrefix("#") })
        #expect(!capture.page.contains("url(") && !capture.page.contains("@import"))
        #expect(capture.page.utf8.count < 1_000_000)
    }

    @Test func `on paper a list of records is cut, and says so`() throws {
        let page = capture.page
        let most = PageTemplate.paperRecords
        #expect(page.contains("records li:nth-child(n+\(most + 1)){display:none}"))
        let note = "Here are the first \(most) of them: the page on a screen has all."
        #expect(page.contains(#"<p class="paper">\#(note)</p>"#))
        #expect(page.contains(".paper{display:none}"), "a screen has all")
        #expect(page.components(separatedBy: "<li class=\"entry\">").count > most)
    }

    @Test func `the same capture gives the same bytes and the same page, but for the seconds`() throws {
        try capture.lab.judge(["--report", capture.lab.file("again.html"), "--lanes", "3"], output: "again")
        #expect(try capture.lab.differences("again", "out") == [])
        let again = try capture.lab.text("again.html")
        func timeless(_ page: String) -> String {
            page.replacing(/Took [^<"]*/, with: "").replacing(/lanes(<[^0-9]*>|",")\d+/, with: "")
        }
        #expect(timeless(again) == timeless(capture.page))
        #expect(timeless(again).count < again.count)
    }

    @Test func `no other file changes with explanations, a report or another number of lanes`() throws {
        try capture.lab.judge(["--lanes", "1"], output: "bare")
        #expect(try capture.lab.differences("bare", "out") == [])
    }

    @Test func `--json prints what the page draws from, by its schema`() throws {
        let transcript = try capture.lab.judge(["--report", capture.lab.file("facts.html"), "--json"], output: "facts")
        let root = try transcript.json
        #expect(SchemaCheck(isClosed: true).violation(of: root, by: Report.schema) == nil)
        let embedded = Array(StrictMarkup(try capture.lab.bytes("facts.html")).raw[1].utf8)
        let drawn = try JSONDocument(parsing: embedded, maxNodes: embedded.count).root
        func parts(_ root: JSONNode) -> [Int] {
            (root["sections"]?.elements ?? []).map { $0["parts"]?.elements.count ?? 0 }
        }
        #expect(parts(root) == parts(drawn) && parts(root).count == 10)
        #expect(transcript.error.contains("requests"), "the table is for people")
    }

    @Test func `a capture without a record has a page too`() throws {
        let fixture = try ReplayFixture()
        try fixture.replayed(["--report", fixture.file("none.html")])
        #expect(StrictMarkup(try fixture.bytes("none.html")).fault == nil)
        let page = try fixture.text("none.html")
        #expect(page.contains("The capture has no records.") && page.contains("Nothing was refused."))
    }
}

@Suite("The report of a changed configuration")
struct ReplayDiffTests {
    @Test func `it counts each verdict that changed, from the old one to the new one`() throws {
        let lab = try EveryReason()
        try lab.judge(output: "old")
        for (member, old, new) in [
            ("mode", "on", "off"), ("receipt", "require", "report"), ("unknownKeys", "refuse", "restore"),
        ] { try lab.edit("config/apps.json", #""\#(member)": "\#(old)""#, #""\#(member)": "\#(new)""#) }
        try lab.judge(["--report", lab.file("diff.html"), "--diff", lab.file("old/results.ndjson")], output: "new")
        let page = try lab.text("diff.html")
        let (old, new) = (try lab.outcomes("old"), try lab.outcomes("new"))
        var (changes, same): ([String: Int], Int) = ([:], 0)
        for (offset, outcome) in new where !outcome.isLetter {
            let (before, now) = (old[offset]?.reason ?? "accepted", outcome.reason ?? "accepted")
            if before == now { same += 1 } else { changes[before + " " + now, default: 0] += 1 }
        }
        #expect(changes["rollout-not-admitted accepted"] == 1 && changes.count > 10 && same > 100)
        let total = changes.values.reduce(0, +)
        #expect(page.contains("<span>Compared</span><b>\((same + total).grouped)</b>"))
        #expect(page.contains("<span>Changed</span><b>\(total.grouped)</b>"))
        for (change, count) in changes {
            let parts = change.split(separator: " ")
            let row =
                "<code>\(parts[0])</code></td><td class=\"l\"><code>\(parts[1])</code></td><td>\(count.grouped)</td>"
            #expect(page.contains(row), "\(change): \(count)")
        }
        #expect(StrictMarkup(Array(page.utf8)).fault == nil)
    }

    @Test func `the same configuration changes nothing, and a file without results is refused`() throws {
        let lab = try ReasonCapture.shared.get().lab
        func compared(_ old: String) -> (code: Int32, out: String, error: String) {
            let more = ["--keys", lab.file("keys.ndjson"), "--report", lab.file("same.html"), "--diff", lab.file(old)]
            return lab.replay(more, output: "same")
        }
        #expect(compared("out/results.ndjson").code == 0)
        let page = try lab.text("same.html")
        #expect(page.contains("No verdict changed.") && page.contains("<span>Changed</span><b>0</b>"))
        let run = compared("capture.ndjson")
        #expect(run.code == 1 && run.error.contains("has no results: --diff takes results.ndjson"))
    }
}
