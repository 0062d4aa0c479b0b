internal import AppAttest
internal import AppCheck
internal import Foundation
internal import JSON
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Commands
@testable internal import Pipeline
@testable internal import Reports

/// One replay of every reason, which several tests look at.
struct ExplainedCapture: Sendable {
    let lab: EveryReason
    /// By offset: the result's or dead letter's reason; nil = accepted.
    let reasons: [Int64: String?]
    /// By offset.
    let lines: [Int64: JSONNode]

    init() throws {
        lab = try EveryReason()
        let (code, transcript) = Transcript.run([
            "replay", "--config", lab.config, "--input", lab.file("capture.ndjson"), "--keys", lab.file("keys.ndjson"),
            "--output", lab.file("out"), "--explain", lab.file("explained.ndjson"),
        ])
        try #require(code == 0, "\(transcript.error)")
        var reasons: [Int64: String?] = [:]
        for record in try lab.captured("out/results.ndjson") {
            reasons[record.offset] = try JSONDocument(parsing: record.value ?? []).root["reason"]?.string
        }
        for record in try lab.captured("out/dead-letters.ndjson") {
            let header = record.headers.last { $0.name.elementsEqual("dlq.reason".utf8) }
            reasons[record.offset] = String(decoding: header?.value ?? [], as: UTF8.self)
        }
        self.reasons = reasons
        var lines: [Int64: JSONNode] = [:]
        for line in try lab.bytes("explained.ndjson").split(separator: 0x0A) {
            let root = try JSONDocument(parsing: Array(line)).root
            lines[try #require(root["offset"]?.integer)] = root
        }
        self.lines = lines
    }

    /// `inspect` of one record, as JSON.
    func inspect(_ offset: Int64) throws -> JSONNode { try JSONDocument(parsing: Array(text(offset).utf8)).root }

    func text(_ offset: Int64) throws -> String {
        let (code, transcript) = Transcript.run(
            [
                "inspect", "--config", lab.config, "--input", lab.file("capture.ndjson"), "--keys",
                lab.file("keys.ndjson"), "--record", "0/\(offset)", "--json",
            ]
        )
        try #require(code == 0, "\(transcript.error)")
        return transcript.output
    }
}

@Suite("Explanations")
struct ExplanationTests {
    private static let capture = Result { try ExplainedCapture() }

    /// Reasons that a replay cannot give: a clock, a topic's partitions or a bug must be there.
    private static let liveOnly: Set<String> = ["too-old", "from-future", "attestation-rate", "internal"]

    @Test func `the capture has every reason that a replay can give`() throws {
        let found = Set(try Self.capture.get().reasons.values.compactMap(\.self))
        #expect(Set(ReasonEntry.all.map(\.code)).subtracting(found).sorted() == Self.liveOnly.sorted())
    }

    @Test func `each record that is not accepted is explained once, with the reason of its result`() throws {
        let capture = try Self.capture.get()
        #expect(capture.reasons.count == capture.lab.records.count)
        for (offset, reason) in capture.reasons {
            #expect(capture.lines[offset]?["reason"]?.string == reason, "offset \(offset)")
            #expect((capture.lines[offset] == nil) == (reason == nil), "offset \(offset)")
        }
    }

    @Test func `for each reason, what was presented and what was expected are shown, and differ`() throws {
        let capture = try Self.capture.get()
        for (offset, line) in capture.lines {
            let reason = line["reason"]?.string ?? ""
            let values = line["values"]?.elements ?? []
            #expect(!values.isEmpty, "offset \(offset): \(reason)")
            for value in values {
                let name = value["name"]?.string ?? ""
                let presented = value["presented"]?.string ?? value["presented"]?.numberText
                let expected = value["expected"]?.string ?? value["expected"]?.numberText
                #expect(presented != nil && expected != nil, "offset \(offset): \(reason), \(name)")
                #expect(presented != expected, "offset \(offset): \(reason), \(name): \(presented ?? "")")
            }
        }
    }

    @Test func `no token, artifact or challenge is in an explanation`() throws {
        let capture = try Self.capture.get()
        let lines = String(decoding: try capture.lab.bytes("explained.ndjson"), as: UTF8.self)
        var (checked, holders) = (0, 0)
        for record in capture.lab.records {
            guard let root = try? JSONDocument(parsing: record.value ?? []).root, let body = root["body"] else {
                continue
            }
            let secrets = (["challenge", "artifact", "app_check_token"] as [StaticString]).compactMap { body[$0] }
                .filter { ($0.string?.count ?? 0) > 20 }
            guard !secrets.isEmpty else { continue }
            var texts = [lines]
            // One inspection takes a replay of the capture up to the record.
            if holders % 8 == 0 { texts.append(try capture.text(record.offset)) }
            holders += 1
            for secret in secrets {
                checked += 1
                let hex = secret.base64Bytes.map { ReportValue.bytes($0).description }
                for text in texts {
                    #expect(!text.contains(secret.string ?? "none"), "offset \(record.offset)")
                    #expect(hex.map { text.contains($0) } != true, "offset \(record.offset)")
                }
            }
        }
        #expect(checked > 20 && holders > 15)
    }

    /// Records of every seventh reason: each costs a replay of the capture up to it.
    private static let samples: [(String, Int64)] = {
        let reasons = (try? capture.get().reasons) ?? [:]
        let first = reasons.compactMap { offset, reason in reason.map { ($0, offset) } }.sorted { $0.1 < $1.1 }
        return Dictionary(first, uniquingKeysWith: { first, _ in first }).sorted { $0.value < $1.value }
            .enumerated().compactMap { $0.offset % 7 == 0 ? $0.element : nil }
    }()

    @Test(arguments: samples)
    func `inspect of a record says what the replay of the capture says`(reason: String, offset: Int64) throws {
        let capture = try Self.capture.get()
        let report = try capture.inspect(offset)
        #expect(report["reason"]?.string == reason)
        let failed = report["checks"]?.elements.filter { $0["result"]?.string == "failed" } ?? []
        #expect(failed.count == 1)
        #expect(failed.first?["reason"]?.string == reason)
        #expect(failed.first?["values"]?.elements.isEmpty == false)
    }

    @Test func `an accepted record is explained too, with the state before it`() throws {
        let capture = try Self.capture.get()
        let accepted = capture.reasons.filter { $0.value == nil }.keys.sorted()
        #expect(accepted.count > 5)
        for offset in accepted.suffix(6) {
            let report = try capture.inspect(offset)
            #expect(report["verdict"]?.string == "accepted")
            #expect(report["checks"]?.elements.contains { $0["result"]?.string == "failed" } == false)
        }
    }

    @Test func `tokens and times beyond all calendars are explained, whoever signed them`() throws {
        let capture = try Self.capture.get()
        let extreme = capture.lab.records.filter { capture.lab.extremes.contains($0.offset) }
        #expect(extreme.count > 20)
        for record in extreme {
            let report = try capture.inspect(record.offset)
            #expect(report["verdict"]?.string == "refused", "offset \(record.offset)")
            let failed = report["checks"]?.elements.first { $0["result"]?.string == "failed" }
            #expect(failed?["reason"]?.string == report["reason"]?.string, "offset \(record.offset)")
        }
    }

    private static func offset(of reason: String) throws -> Int64 {
        let reasons = try capture.get().reasons
        return try #require(reasons.filter { $0.value == reason }.keys.min())
    }

    @Test func `the text shows the state, presented beside expected, the verdict and its meaning`() throws {
        let lab = try Self.capture.get().lab
        let offset = try Self.offset(of: "counter-not-greater")
        let (code, transcript) = Transcript.run([
            "inspect", "--config", lab.config, "--input", lab.file("capture.ndjson"), "--request-id",
            "request-\(offset)",
        ])
        #expect(code == 0)
        for part in [
            "key.counter ", "counter presented: 5", "counter expected:  greater than 5", "FAILED: counter-not-greater",
            "refused: counter-not-greater", "usual cause",
        ] { #expect(transcript.output.contains(part), "\(part)") }
        #expect(transcript.output.contains(ReasonText.plain(ReasonText.counterNotGreater.action).prefix(30)))
    }

    @Test(
        arguments: [
            (["--input", "c"], "--config DIR is required with --input"),
            (["--input", "c", "--config", "d"], "give either --record PARTITION/OFFSET or --request-id ID."),
            (["--input", "c", "--config", "d", "--record", "1"], "--record must be PARTITION/OFFSET"),
            (["--input", "c", "--config", "d", "--record", "0/-1"], "not '0/-1'"),
            (["--input", "c", "--config", "d", "--record", "0/1", "--request-id", "x"], "give either"),
            (["--input", "-", "--config", "d", "--record", "0/1", "--keys", "-"], "cannot both be standard input"),
            (["--input", "c", "--config", "d", "--record", "0/1", "omlz"], "give either 'omlz' or --input"),
            (["--input", "c", "--key-id", "x"], "--key-id is for an object by itself"),
            (["--record", "0/1", "omlz"], "--record needs --input CAPTURE"),
            (["--input", "c", "--config", "d", "--record", "0/1", "--partitions", "0"], "--partitions must be"),
            (["--input", "c", "--config", "d", "--record", "0/1", "--now", "noon"], "--now must be a time"),
        ]
    )
    func `wrong usage of inspect ends with one line and exit code 2`(arguments: [String], expected: String) {
        let (code, transcript) = Transcript.run(["inspect"] + arguments)
        #expect(code == 2)
        #expect(transcript.error.contains(expected), "\(transcript.error)")
        #expect(transcript.error.filter(\.isNewline).count == 1)
    }

    @Test(arguments: [["--record", "7/7"], ["--request-id", "absent"]])
    func `a record that is not in the capture ends with one line and exit code 1`(sought: [String]) throws {
        let lab = try Self.capture.get().lab
        try lab.write(
            String(decoding: lab.bytes("capture.ndjson").prefix { $0 != 0x0A }, as: UTF8.self),
            to: "one.ndjson"
        )
        let (code, transcript) = Transcript.run(
            ["inspect", "--config", lab.config, "--input", lab.file("one.ndjson")] + sought
        )
        #expect(code == 1)
        #expect(transcript.error.contains("is not in the capture"))
    }

    @Test func `an explanation never overwrites what the replay reads`() throws {
        let lab = try Self.capture.get().lab
        let capture = lab.file("capture.ndjson")
        for (explain, part) in [(capture, "would be overwritten"), ("-", "cannot both be standard output")] {
            let (code, transcript) = Transcript.run([
                "replay", "--config", lab.config, "--input", capture, "--output", lab.file("out2"), "--explain",
                explain,
                "--summary", "-",
            ])
            #expect(code == 2)
            #expect(transcript.error.contains(part), "\(transcript.error)")
        }
    }
}
