internal import AppCheck
internal import KafkaPorts
internal import Settings
internal import TestKit
internal import Testing

@testable internal import CommandFrame
@testable import Commands
@testable internal import Study

@Suite("tail: results as lines")
struct TailTests {
    private static let shop = #""name":"Shop for iOS","tokenAlgorithm":"ES256""#
    private static let keyID = "hr0QXvxt3i7R3nKbebeJaAIOyt4aZoEGNmFJi3PO3YI="

    private static func registry(_ app: String = shop) throws -> Registry {
        try KeyDirectory(app: app).files.load().registry
    }

    private static func record(
        path: String = "v1/projects/1/apps/a:verifyAssertion",
        verdict: String = "accepted",
        reason: String? = nil,
        keyID: String = keyID,
        more: String = ""
    ) -> TopicRecord {
        let reason = reason.map { #","reason":"\#($0)""# } ?? ""
        let text =
            #"{"requestId":"r","path":"\#(path)","keyId":"\#(keyID)","verdict":"\#(verdict)"\#(reason)\#(more),"#
            + #""source":{"topic":"t","partition":0,"offset":1,"timestamp":1790000000000}}"#
        return TopicRecord(partition: 0, offset: 1, key: nil, value: Array(text.utf8))
    }

    private static func line(_ record: TopicRecord, _ registry: Registry) throws -> String {
        try #require(ShownResult(record, in: registry)).line(in: registry, width: 14)
    }

    @Test func `a line has time, the app's name, verb, verdict and the key's beginning, on a terminal's one line`()
        throws
    {
        let text = try Self.line(Self.record(), Self.registry())
        #expect(text == "2026-09-21T14:13:20.000Z  Shop for iOS    verifyAssertion               accepted  hr0QXvxt…")
        let unnamed = try Self.line(Self.record(), Self.registry(#""tokenAlgorithm":"ES256""#))
        #expect(unnamed.contains("  a               verifyAssertion"))
    }

    @Test func `what is refused has its reason and what it means`() throws {
        let refused = Self.record(verdict: "refused", reason: "counter-not-greater")
        let text = try Self.line(refused, Self.registry())
        #expect(
            text.contains(
                "  refused counter-not-greater  hr0QXvxt…  The assertion's counter is not greater than the stored"
            )
        )
        let unknown = try Self.line(Self.record(verdict: "refused", reason: "of-a-later-version"), Self.registry())
        #expect(unknown.hasSuffix("refused of-a-later-version  hr0QXvxt…"))
        let again = try Self.line(Self.record(more: #","duplicate":true"#), Self.registry())
        #expect(again.contains("accepted (duplicate)"))
    }

    @Test func `a refusal shows what was presented, and what a refused token claims`() throws {
        func line(_ reason: String, _ evidence: String) throws -> String {
            let record = Self.record(verdict: "refused", reason: reason, more: #","evidence":{\#(evidence)}"#)
            return try Self.line(record, Self.registry())
        }
        let build = try line("category-not-allowed", #""presentedCategory":2,"presentedBundleVersion":"45""#)
        #expect(build.contains("  category 2, bundle version 45  "))
        let token = try line("token-invalid", #""tokenFault":"unknown_kid","claimed":{"kid":"lYBWVg","aud":[]}"#)
        #expect(token.contains("  fault unknown_kid, claimed kid lYBWVg  "))
    }

    @Test func `an unknown app and an operator's command are shown for what they are`() throws {
        let strange = try Self.line(Self.record(path: "v1/projects/9/apps/x:what", verdict: "refused"), Self.registry())
        #expect(strange.contains("  -               v1/projects/9/apps/x:what"))
        let ban = try Self.line(Self.record(path: "v1/operator:ban"), Self.registry())
        #expect(ban.contains("  -               ban "))
    }

    @Test(arguments: ["\\u202e", "\\u001b[2J", "\\u0085", "\\n", "\\u2028"])
    func `nothing that a record says moves the cursor, hides or adds a line`(text: String) throws {
        let record = Self.record(
            path: "v1/\(text):\(text)",
            verdict: "refused\(text)",
            reason: "bad\(text)",
            keyID: "\(text)AAAA"
        )
        let line = try Self.line(record, Self.registry())
        #expect(line.unicodeScalars.allSatisfy { $0.isVisible }, "\(line)")
    }

    @Test func `a line is bounded, whatever the record has`() throws {
        let long = String(repeating: "x\u{301}", count: 100_000)
        let record = Self.record(path: long, verdict: long, reason: long, keyID: long)
        #expect(try Self.line(record, Self.registry()).utf8.count < 500)
    }

    @Test(arguments: [
        "", "{", "[]", "1", #"{"path":"p"}"#, #"{"path":1,"verdict":"accepted"}"#, #"{"verdict":"accepted"}"#,
    ])
    func `what is not a result is not taken for one`(text: String) throws {
        let record = TopicRecord(partition: 0, offset: 0, key: nil, value: Array(text.utf8))
        #expect(ShownResult(record, in: try Self.registry()) == nil)
        #expect(ShownResult(TopicRecord(partition: 0, offset: 0, key: nil, value: nil), in: try Self.registry()) == nil)
    }

    private static func filter(_ arguments: String...) throws -> TailFilter {
        let parsed = try OptionParser(command: .tail).parse(["--config", "x"] + arguments)
        return try TailFilter(parsed, registry())
    }

    @Test func `filters choose by outcome, by app under each of its names, and by reason`() throws {
        let registry = try Self.registry()
        let accepted = try #require(ShownResult(Self.record(), in: registry))
        let refused = try #require(ShownResult(Self.record(verdict: "refused", reason: "banned"), in: registry))
        let strange = try #require(
            ShownResult(Self.record(path: "v1/x:y", verdict: "refused", reason: "unknown-app"), in: registry)
        )
        #expect(try [accepted, refused, strange].map(Self.filter().shows) == [true, true, true])
        #expect(try [accepted, refused, strange].map(Self.filter("--refused").shows) == [false, true, true])
        for name in ["Shop for iOS", "a", "projects/1/apps/a"] {
            #expect(try [accepted, refused, strange].map(Self.filter("--app", name).shows) == [true, true, false])
        }
        #expect(try [accepted, refused, strange].map(Self.filter("--reason", "banned").shows) == [false, true, false])
    }
}
