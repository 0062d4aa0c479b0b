internal import AppCheck
internal import JSON
internal import TestKit
internal import Testing

@testable internal import Reports

@Suite("rollout")
struct RolloutTests {
    private static let apps = #""rollout":{"mode":"on","percent":10}"#
    /// 300 attestations at 10 %, two of which failed; assertions, one failed; 40 not admitted; 50 of another share.
    private static let events: [MadeEvent] =
        Array(repeating: MadeEvent(), count: 298)
        + [.failure("bad-nonce"), .failure("challenge-expired")]
        + Array(repeating: .assertion, count: 1000)
        + [
            MadeEvent(
                event: "AppAttestFailure",
                method: "exchangeAppAttestAssertion",
                reason: "bad-nonce",
                percent: nil
            )
        ]
        + Array(repeating: .notAdmitted, count: 40)
        + (0..<50).map { _ in
            MadeEvent(event: "AppAttestFailure", app: "projects/one/apps/a", reason: "bad-nonce", percent: "1")
        }

    private func report(_ directory: KeyDirectory, _ arguments: String...) throws -> JSONNode {
        let input = ["rollout", "--config", directory.path, "--input", directory.file("events"), "--json"]
        return try Transcript.done(input + arguments).json
    }

    private func directory(_ app: String = apps, _ events: [MadeEvent] = events) throws -> KeyDirectory {
        let directory = try KeyDirectory(app: app)
        try directory.write("events", MadeEvent.capture(events))
        return directory
    }

    @Test func `successes, failures by reason, not admitted and rates are counted per app, under any of its names`()
        throws
    {
        let root = try report(directory())
        #expect(root["events"]?.integer == 1391 && root["unreadable"]?.integer == 0)
        let app = try #require(root["apps"]?.elements.first)
        #expect(root["apps"]?.elements.count == 1)
        #expect(app["app"]?.string == KeyDirectory.app)
        #expect(app["mode"]?.string == "on" && app["percent"]?.numberText == "10")
        #expect(app["successes"]?.integer == 1298 && app["failures"]?.integer == 53)
        #expect(app["failuresByReason"]?["bad-nonce"]?.integer == 52)
        #expect(app["failuresByReason"]?["challenge-expired"]?.integer == 1)
        #expect(app["notAdmitted"]?.integer == 40)
        let rate = try #require(app["failureRate"]?.numberText.flatMap { Double($0) })
        #expect(abs(rate - 53.0 / 1351 * 100) < 1e-9)
        // Only attestations at the present share: not the assertions, not the fifty of another one.
        #expect(app["attestations"]?["decided"]?.integer == 300 && app["attestations"]?["failed"]?.integer == 2)
        #expect(app["mayGrow"]?.bool == true)
        #expect(app["why"]?.string == "0.67 % of 300 attestations failed")
    }

    @Test func `a device that is refused repeatedly counts as one failure, whatever the reasons and their order`()
        throws
    {
        func failure(_ reason: String, _ device: String?) -> MadeEvent {
            MadeEvent(event: "AppAttestFailure", reason: reason, device: device)
        }
        let events = [
            failure("b", "00000000000000aa"), failure("a", "00000000000000aa"), failure("b", "00000000000000aa"),
            failure("b", "00000000000000bb"), failure("a", nil), failure("a", nil),
            MadeEvent(device: "00000000000000aa"),
        ]
        for events in [events, events.reversed()] {
            let app = try #require(try report(directory(Self.apps, events))["apps"]?.elements.first)
            #expect(app["successes"]?.integer == 1 && app["failures"]?.integer == 4)
            #expect(app["failuresByReason"]?["a"]?.integer == 3 && app["failuresByReason"]?["b"]?.integer == 1)
            #expect(app["attestations"]?["decided"]?.integer == 5 && app["attestations"]?["failed"]?.integer == 4)
        }
    }

    @Test(
        arguments: [
            ("--min", "301", false), ("--min", "300", true), ("--max-failure-rate", "0.66", false),
            ("--max-failure-rate", "0.67", true),
        ]
    )
    func `the options set the bounds`(name: String, value: String, mayGrow: Bool) throws {
        #expect(try report(directory(), name, value)["apps"]?.elements[0]["mayGrow"]?.bool == mayGrow)
    }

    @Test func `the table shows the report's figures`() throws {
        let directory = try directory()
        let (code, output, error) = directory.run("rollout", "--input", directory.file("events"))
        #expect(code == 0 && error.isEmpty)
        let rows = output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            rows == [
                "app mode share successes failures failed not admitted may grow",
                "projects/1/apps/a on 10 % 1,298 53 3.93 % 40 yes: 0.67 % of 300 attestations failed",
                "app failed for times", "projects/1/apps/a bad-nonce 52", "projects/1/apps/a challenge-expired 1",
            ]
        )
    }

    @Test func `the table and the page have the app's name with its ID, the figures for programs the ID`() throws {
        let directory = try directory(#""name":"Shop","rollout":{"mode":"on","percent":10}"#)
        let page = directory.file("page.html")
        let (_, output, error) = directory.run("rollout", "--input", directory.file("events"), "--report", page)
        #expect(output.contains("Shop (projects/1/apps/a)"), "\(error)")
        #expect(try directory.text("page.html").contains("Shop (projects/1/apps/a)"))
        #expect(try report(directory)["apps"]?.elements.first?["app"]?.string == KeyDirectory.app)
    }

    @Test(
        arguments: [
            ("on", 10_000_000, 200, 2, true, "1.00 % of 200 attestations failed"),
            ("shadow", 100_000_000, 200, 0, true, "0.00 % of 200 attestations failed"),
            ("on", 10_000_000, 199, 0, false, "only 199 of 200 attestations decided at this share"),
            ("on", 10_000_000, 0, 0, false, "only 0 of 200 attestations decided at this share"),
            ("on", 10_000_000, 299, 3, false, "1.01 % of 299 attestations failed, over 1.00 %"),
            ("on", 100_000_000, 1000, 0, false, "the share is 100 %"),
            ("off", 10_000_000, 1000, 0, false, "rollout is off: all devices are admitted"),
        ] as [(String, Int64, Int, Int, Bool, String)]
    )
    func `a share may grow after 200 attestations with at most 1 % failures, and only behind a gate`(
        mode: String,
        parts: Int64,
        decided: Int,
        failed: Int,
        mayGrow: Bool,
        why: String
    ) throws {
        var tally = RolloutTally()
        (tally.attested, tally.attestationsFailed) = (decided, failed)
        let rollout = Rollout(mode: try #require(Rollout.Mode(rawValue: mode)), parts: parts)
        let judged = GrowthRule().judge(tally, rollout)
        #expect(judged.mayGrow == mayGrow)
        #expect(judged.why == why)
    }

    @Test func `events from before the gate count, since every device was admitted then`() throws {
        let root = try report(directory(Self.apps, Array(repeating: MadeEvent(percent: nil), count: 200)))
        #expect(root["apps"]?.elements[0]["mayGrow"]?.bool == true)
    }

    @Test func `a removed app is listed last, and records that are not events are counted in a warning`() throws {
        let directory = try directory(
            Self.apps,
            [MadeEvent(app: "projects/9/apps/z"), MadeEvent(event: "SomethingElse")]
        )
        let (code, output, error) = directory.run("rollout", "--input", directory.file("events"), "--json")
        #expect(code == 0)
        #expect(error == "warning: skipped because they are not events: 1\n")
        let apps = try #require(try JSONDocument(parsing: Array(output.utf8)).root["apps"]).elements
        #expect(apps.map { $0["app"]?.string } == [KeyDirectory.app, "projects/9/apps/z"])
        #expect(apps[1]["mode"]?.kind == .null && apps[1]["why"]?.string == "not in apps.json")
        #expect(apps[1]["successes"]?.integer == 1)
    }

    @Test func `a line that is not a capture's record is named; the embedded broker has no events to read`() throws {
        let directory = try directory()
        try directory.write("events", MadeEvent.capture([MadeEvent()]) + Array("no JSON\n".utf8))
        let (code, output, error) = directory.run("rollout", "--input", directory.file("events"))
        #expect(code == 1 && output.isEmpty && error.contains("line 2 is not a capture record"))
        let embedded = try KeyDirectory(#""embeddedBroker":true"#).run("rollout")
        #expect(embedded.code == 2 && embedded.error.contains("give --input"))
    }
}
