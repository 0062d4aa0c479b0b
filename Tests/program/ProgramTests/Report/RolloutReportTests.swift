internal import AppAttest
internal import AppCheck
internal import Foundation
internal import JSON
internal import TestKit
internal import Testing

@testable internal import Reports

@Suite("rollout --report")
struct RolloutReportTests {
    private static func event(
        _ event: String,
        _ device: Int?,
        day: Int = 20,
        reason: String? = nil,
        percent: String = "10",
        version: String? = nil
    ) -> MadeEvent {
        MadeEvent(
            event: event,
            reason: reason,
            percent: percent,
            device: device.map { String(UInt64($0) + 0x1000_0000_0000_0000, radix: 16) },
            at: "2026-11-\(day)T12:00:00.000Z",
            bundleVersion: version
        )
    }

    private static func success(_ device: Int?, day: Int = 20, version: String? = nil) -> MadeEvent {
        event("AppAttestSuccess", device, day: day, version: version)
    }

    private static func failure(_ device: Int?, _ reason: String, day: Int = 20, version: String? = nil) -> MadeEvent {
        event("AppAttestFailure", device, day: day, reason: reason, version: version)
    }

    private static func facts(_ events: [MadeEvent]) throws -> RolloutFacts {
        var facts = RolloutFacts()
        for event in events { facts.add(try #require(Event(event.value))) }
        return facts
    }

    @Test func `a device counts once: a success makes up for failures, whatever their order`() throws {
        let events = [
            Self.failure(1, "b"), Self.failure(1, "a"), Self.success(1), Self.failure(2, "b"), Self.failure(2, "a"),
            Self.failure(3, "b"), Self.event("AppAttestNotAdmitted", 3), Self.event("AppAttestNotAdmitted", 4),
            Self.event("AppAttestNotAdmitted", 4), Self.success(nil), Self.success(nil), Self.failure(nil, "c"),
        ]
        for events in [events, events.reversed()] {
            let facts = try Self.facts(events)
            #expect(facts.total == DeviceCounts(succeeded: 3, failed: 3, notAdmitted: 1))
            #expect(facts.recovered == 1)
            #expect(facts.failedDevices == ["a": 1, "b": 1, "c": 1])
            #expect(facts.failures == ["a": 2, "b": 3, "c": 1])
        }
    }

    @Test func `each day counts a device once, and has its highest share`() throws {
        let events = [
            Self.failure(1, "a", day: 20), Self.failure(1, "a", day: 20), Self.success(1, day: 21),
            Self.success(2, day: 21), Self.event("AppAttestSuccess", 3, day: 23, percent: "25"),
        ]
        let columns = try #require(try Self.facts(events).columns)
        #expect(columns.axis.count == 4 && columns.axis.width == RolloutFacts.dayMilliseconds)
        #expect(columns.counts.map(\.succeeded) == [0, 2, 0, 1] && columns.counts.map(\.failed) == [1, 0, 0, 0])
        #expect(columns.shares == [10_000_000, 10_000_000, nil, 25_000_000])
        #expect(columns.axis.label(0) == "2026-11-20")
    }

    @Test func `devices are counted by version, those with most failures first`() throws {
        let events =
            (0..<20).map { Self.success($0, version: "1.0") } + (20..<24).map { Self.failure($0, "a", version: "2.0") }
            + [Self.success(24, version: "2.0"), Self.success(25)]
        let version = try #require(RolloutFacts.traits.firstIndex(of: .bundleVersion))
        let (rows, rest) = try Self.facts(events).rows(version, most: 2)
        #expect(rows.map { $0.text?.shown } == ["2.0", "1.0"])
        #expect(rows.map(\.counts.failed) == [4, 0] && rows.map(\.counts.decided) == [5, 20])
        #expect(rest == DeviceCounts(succeeded: 1))
    }

    private func run(_ events: [MadeEvent], _ arguments: String...) throws -> (KeyDirectory, Transcript) {
        let directory = try KeyDirectory(app: #""rollout":{"mode":"on","percent":10}"#)
        try directory.write("events", MadeEvent.capture(events))
        let named = arguments.map { $0.replacing("DIR", with: directory.path) }
        let input = ["rollout", "--config", directory.path, "--input", directory.file("events")]
        return (directory, try Transcript.done(input + named))
    }

    @Test func `the page has the figures, is well-formed, and runs its own script alone`() throws {
        let events =
            (0..<298).map { Self.success($0) } + [Self.failure(300, "nonce-mismatch"), Self.failure(301, "chain")]
        let (directory, transcript) = try run(events, "--report", "DIR/page.html", "--json")
        let page = try directory.text("page.html")
        let markup = StrictMarkup(Array(page.utf8))
        #expect(markup.fault == nil && markup.elements["script"] == 2)
        #expect(markup.links.allSatisfy { $0.hasPrefix("#") })
        for part in [
            "<span>Devices succeeded</span><b>298</b>", "<span>Devices failed</span><b>2</b>",
            "The share may grow to 25\u{202F}%: 0.67 % of 300 attestations failed.",
            "(0.18\u{202F}% to 2.40\u{202F}%)", "<code>nonce-mismatch</code></td><td>1</td><td>1</td>",
        ] { #expect(page.contains(part), "\(part)") }
        let root = try transcript.json
        #expect(root["apps"]?.elements.first?["mayGrowTo"]?.numberText == "25")
        #expect(SchemaCheck().violation(of: root, by: Report.schema) == nil)
        #expect(root["sections"]?.elements.map { $0["title"]?.string } == [KeyDirectory.app, "About this page"])
    }

    @Test func `hostile texts of events come out inert`() throws {
        let hostile = "<script>\u{202E}\"'&\u{0}" + String(repeating: "x", count: 60_000)
        let events = [
            Self.failure(1, hostile, version: hostile), MadeEvent(app: hostile, at: "2026-11-20T12:00:00.000Z"),
        ]
        let (directory, _) = try run(events, "--report", "DIR/page.html")
        let page = try directory.text("page.html")
        #expect(StrictMarkup(Array(page.utf8)).fault == nil)
        #expect(page.components(separatedBy: "<script").count == 3 && page.utf8.count < 100_000)
        #expect(page.contains("&lt;script&gt;[U+202E]"))
    }

    @Test func `events before the time of --since do not count`() throws {
        let events = [Self.success(1, day: 19), Self.success(2, day: 20), Self.failure(3, "a", day: 21)]
        for (since, expected) in [
            ("2026-11-20T12:00:00Z", (1, 1)), ("2026-11-20T12:00:00.001Z", (0, 1)), ("0", (2, 1)),
        ] {
            let app = try run(events, "--since", since, "--json").1.json["apps"]?.elements.first
            #expect(app?["successes"]?.integer == Int64(expected.0) && app?["failures"]?.integer == Int64(expected.1))
        }
    }

    @Test func `an app without an event has a page too`() throws {
        let events = [MadeEvent(app: "projects/9/apps/z")]
        let (directory, transcript) = try run(events, "--report", "DIR/page.html")
        let page = try directory.text("page.html")
        #expect(StrictMarkup(Array(page.utf8)).fault == nil)
        #expect(page.contains("No attestation of this app has an event."))
        #expect(transcript.output.contains("may grow"))
    }

    @Test func `the share grows by steps to the whole`() {
        #expect(
            [0, 999_999, 1_000_000, 10_000_000, 50_000_000].map { GrowthRule.next(after: $0) }
                == [1_000_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000]
        )
        #expect(GrowthRule.next(after: Rollout.whole) == nil)
    }
}
