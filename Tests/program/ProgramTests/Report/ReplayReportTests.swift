internal import AppCheck
internal import Foundation
internal import JSON
internal import Pipeline
internal import Reports
internal import Settings
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Commands

/// One replay of every reason with its page, which several tests look at.
private struct ReportedCapture: Sendable {
    let lab: EveryReason
    let page: String
    /// By offset: reason, and the key ID of a result; nil = accepted.
    let outcomes: [Int64: (reason: String?, keyID: String?, isLetter: Bool)]

    init() throws {
        lab = try EveryReason()
        try Self.replay(lab, "out", ["--report", lab.file("report.html")])
        page = String(decoding: try lab.bytes("report.html"), as: UTF8.self)
        outcomes = try Self.outcomes(lab, "out")
    }

    static func replay(_ lab: EveryReason, _ output: String, _ more: [String]) throws {
        let (code, transcript) = Transcript.run(
            [
                "replay", "--config", lab.config, "--input", lab.file("capture.ndjson"), "--keys",
                lab.file("keys.ndjson"), "--output", lab.file(output),
            ] + more
        )
        try #require(code == 0, "\(transcript.error)")
    }

    static func outcomes(
        _ lab: EveryReason,
        _ output: String
    ) throws -> [Int64: (reason: String?, keyID: String?, isLetter: Bool)] {
        var outcomes: [Int64: (reason: String?, keyID: String?, isLetter: Bool)] = [:]
        for record in try lab.captured(output + "/results.ndjson") {
            let root = try JSONDocument(parsing: record.value ?? []).root
            // An operator's command names a key, and is no device's.
            let isOperators = root["path"]?.string?.hasPrefix("v1/operator:") == true
            outcomes[record.offset] = (root["reason"]?.string, isOperators ? nil : root["keyId"]?.string, false)
        }
        for record in try lab.captured(output + "/dead-letters.ndjson") {
            let header = record.headers.last { $0.name.elementsEqual("dlq.reason".utf8) }
            outcomes[record.offset] = (String(decoding: header?.value ?? [], as: UTF8.self), nil, true)
        }
        return outcomes
    }

    /// A tile's value.
    func tile(_ name: String) throws -> String {
        let start = try #require(page.firstRange(of: "<span>\(name)</span><b>"))
        return String(page[start.upperBound...].prefix { $0 != "<" })
    }
}

@Suite("The report of a replay")
struct ReplayReportTests {
    private static let capture = Result { try ReportedCapture() }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(count.grouped) \(noun)\(count == 1 ? "" : "s")"
    }

    @Test func `tiles tell the metrics, the keys above their limit and the refused receipts`() throws {
        let capture = try Self.capture.get()
        #expect(try capture.tile("Risk metrics known") == "2")
        #expect(try capture.tile("Keys above the limit") == "1")
        #expect(try capture.tile("Receipts refused") == "3")
    }

    @Test func `the tiles have the sums of the results and dead letters`() throws {
        let capture = try Self.capture.get()
        let all = capture.outcomes.values
        #expect(try capture.tile("Records") == all.count.grouped)
        #expect(try capture.tile("Accepted") == all.count { $0.reason == nil }.grouped)
        let deferred = all.count { $0.reason == "no-active-key" }
        let letters = all.count { $0.isLetter }
        #expect(deferred > 0 && letters > 0)
        #expect(try capture.tile("Deferred") == deferred.grouped)
        #expect(try capture.tile("Dead letters") == letters.grouped)
        let refused = all.count { $0.reason != nil } - deferred - letters
        #expect(try capture.tile("Refused") == refused.grouped)
    }

    @Test func `each reason has the records and devices that the results have, and its text`() throws {
        let capture = try Self.capture.get()
        let reasons = Dictionary(grouping: capture.outcomes.values.filter { $0.reason != nil }) { $0.reason ?? "" }
        #expect(reasons.count > 60)
        for (reason, found) in reasons {
            let devices = Set(found.compactMap(\.keyID)).count
            let named = devices > 0 ? Self.counted(devices, "device") : "no device is named"
            var heading = "<code>\(reason)</code><span>\(Self.counted(found.count, "record"))</span>"
            heading += found[0].isLetter ? "</h3>" : "<span>\(named)</span>"
            #expect(capture.page.contains(heading), "\(heading)")
            let entry = try #require(ReasonEntry.find(reason))
            let meaning = ReasonText.plain(entry.text.meaning).replacing("'", with: "&#39;")
            #expect(capture.page.contains("<dd><bdi>\(meaning)</bdi></dd>"), "\(reason)")
        }
    }

    @Test func `each reason has a record with the command that explains it, and the command works`() throws {
        let capture = try Self.capture.get()
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

    @Test func `no token, artifact or challenge is in the page`() throws {
        let capture = try Self.capture.get()
        var checked = 0
        for record in capture.lab.records {
            guard let root = try? JSONDocument(parsing: record.value ?? []).root, let body = root["body"] else {
                continue
            }
            for name in ["challenge", "artifact", "app_check_token", "appCheckToken"] as [StaticString] {
                guard let secret = body[name]?.string, secret.count > 20 else { continue }
                checked += 1
                #expect(!capture.page.contains(secret), "offset \(record.offset)")
                let hex = body[name]?.base64Bytes.map { bytes in
                    bytes.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
                }
                #expect(hex.map { capture.page.contains($0) } != true, "offset \(record.offset)")
            }
        }
        #expect(checked > 20)
    }

    @Test func `the page is well-formed, loads nothing, runs its own script alone, and is small`() throws {
        let capture = try Self.capture.get()
        let markup = StrictMarkup(Array(capture.page.utf8))
        #expect(markup.fault == nil)
        #expect(markup.elements["script"] == 2 && markup.elements["img"] == nil && markup.elements["link"] == nil)
        #expect(markup.elements["section"] == 10 && (markup.elements["table"] ?? 0) > 8)
        #expect(markup.links.count == 10 && markup.links.allSatisfy { $0.hasPrefix("#") })
        #expect(!capture.page.contains("url(") && !capture.page.contains("@import"))
        #expect(capture.page.utf8.count < 1_000_000)
    }

    @Test func `on paper a list of records is cut, and says so`() throws {
        let page = try Self.capture.get().page
        let most = PageTemplate.paperRecords
        #expect(page.contains("records li:nth-child(n+\(most + 1)){display:none}"))
        let note = "Here are the first \(most) of them: the page on a screen has all."
        #expect(page.contains(#"<p class="paper">\#(note)</p>"#))
        #expect(page.contains(".paper{display:none}"), "a screen has all")
        #expect(page.components(separatedBy: "<li class=\"entry\">").count > most)
    }

    @Test func `the same capture gives the same page, but for the seconds`() throws {
        let capture = try Self.capture.get()
        try ReportedCapture.replay(capture.lab, "out2", ["--report", capture.lab.file("again.html"), "--lanes", "1"])
        let again = String(decoding: try capture.lab.bytes("again.html"), as: UTF8.self)
        func timeless(_ page: String) -> String {
            page.replacing(/Took [^<"]*/, with: "").replacing(/lanes(<[^0-9]*>|",")\d+/, with: "")
        }
        #expect(timeless(again) == timeless(capture.page))
        #expect(timeless(again).count < again.count)
    }

    @Test func `the results are the same with a report and without`() throws {
        let capture = try Self.capture.get()
        try ReportedCapture.replay(capture.lab, "bare", [])
        #expect(try capture.lab.bytes("bare/results.ndjson") == capture.lab.bytes("out/results.ndjson"))
    }

    @Test func `--json prints what the page draws from, by its schema`() throws {
        let capture = try Self.capture.get()
        let (code, transcript) = Transcript.run([
            "replay", "--config", capture.lab.config, "--input", capture.lab.file("capture.ndjson"), "--keys",
            capture.lab.file("keys.ndjson"), "--output", capture.lab.file("facts"), "--report",
            capture.lab.file("facts.html"), "--json",
        ])
        try #require(code == 0, "\(transcript.error)")
        let printed = Array(transcript.output.utf8)
        let root = try JSONDocument(parsing: printed, maxNodes: printed.count).root
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
        let capture = try Self.capture.get()
        try capture.lab.write("", to: "empty.ndjson")
        let (code, transcript) = Transcript.run([
            "replay", "--config", capture.lab.config, "--input", capture.lab.file("empty.ndjson"), "--output",
            capture.lab.file("none"), "--report", capture.lab.file("none.html"),
        ])
        #expect(code == 0, "\(transcript.error)")
        let page = try capture.lab.bytes("none.html")
        #expect(StrictMarkup(page).fault == nil)
        #expect(String(decoding: page, as: UTF8.self).contains("The capture has no records."))
        #expect(String(decoding: page, as: UTF8.self).contains("Nothing was refused."))
    }
}

@Suite("The report of a changed configuration")
struct ReplayDiffTests {
    @Test func `it counts each verdict that changed, from the old one to the new one`() throws {
        let lab = try EveryReason()
        try ReportedCapture.replay(lab, "old", [])
        let apps = lab.config + "/apps.json"
        let text = try String(contentsOfFile: apps, encoding: .utf8)
        let changed = text.replacing(#""mode": "on""#, with: #""mode": "off""#)
            .replacing(#""receipt": "require""#, with: #""receipt": "report""#)
            .replacing(#""unknownKeys": "refuse""#, with: #""unknownKeys": "restore""#)
        #expect(changed != text)
        try Data(changed.utf8).write(to: URL(filePath: apps))
        let more = ["--report", lab.file("diff.html"), "--diff", lab.file("old/results.ndjson")]
        try ReportedCapture.replay(lab, "new", more)
        let page = String(decoding: try lab.bytes("diff.html"), as: UTF8.self)
        let (old, new) = (try ReportedCapture.outcomes(lab, "old"), try ReportedCapture.outcomes(lab, "new"))
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
        let lab = try EveryReason()
        try ReportedCapture.replay(lab, "old", [])
        try ReportedCapture.replay(
            lab,
            "new",
            ["--report", lab.file("r.html"), "--diff", lab.file("old/results.ndjson")]
        )
        let page = String(decoding: try lab.bytes("r.html"), as: UTF8.self)
        #expect(page.contains("No verdict changed.") && page.contains("<span>Changed</span><b>0</b>"))
        let arguments = [
            "replay", "--config", lab.config, "--input", lab.file("capture.ndjson"), "--output", lab.file("new2"),
            "--report", lab.file("r.html"), "--diff", lab.file("capture.ndjson"),
        ]
        let (code, transcript) = Transcript.run(arguments)
        #expect(code == 1 && transcript.error.contains("has no results: --diff takes results.ndjson"))
    }

    @Test(
        arguments: [
            (["--diff", "x"], "--diff needs --report FILE or --json"),
            (["--json", "--summary", "-"], "--summary and --json cannot both be standard output."),
            (["--report", "r", "--diff", "-"], "not standard input"),
            (["--report", "-", "--summary", "-"], "--summary and --report cannot both be standard output."),
            (["--report", "-", "--explain", "-"], "--explain and --report cannot both be standard output."),
            (["--report", "CAPTURE"], "would be overwritten"),
            (["--report", "r", "--diff", "OUT/results.ndjson"], "would be overwritten"),
        ]
    )
    func `wrong usage ends with one line and exit code 2`(more: [String], expected: String) throws {
        let folder = try ConfigurationDirectory()
        try folder.write("capture", [])
        let output = folder.path + "/out"
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        try folder.write("out/results.ndjson", [])
        let named = more.map { $0.replacing("CAPTURE", with: folder.path + "/capture").replacing("OUT", with: output) }
        let (code, transcript) = Transcript.run(
            ["replay", "--config", folder.path, "--input", folder.path + "/capture", "--output", output] + named
        )
        #expect(code == 2 && transcript.error.contains(expected), "\(transcript.error)")
        #expect(transcript.error.filter(\.isNewline).count == 1)
    }
}
