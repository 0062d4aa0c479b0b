internal import JSON
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Reports

@Suite("Explanations")
struct ExplanationTests {
    private let capture: ReasonCapture

    init() throws { capture = try ReasonCapture.shared.get() }

    /// Reasons that a replay cannot give: a clock, a topic's partitions or a bug must be there.
    private static let liveOnly: Set<String> = ["too-old", "from-future", "attestation-rate", "internal"]

    @Test func `the capture has every reason that a replay can give`() throws {
        let found = Set(capture.outcomes.values.compactMap(\.reason))
        #expect(Set(ReasonEntry.all.map(\.code)).subtracting(found).sorted() == Self.liveOnly.sorted())
    }

    @Test func `each record that is not accepted is explained once, with the reason of its result`() throws {
        #expect(capture.outcomes.count == capture.lab.records.count)
        for (offset, outcome) in capture.outcomes {
            #expect(capture.lines[offset]?["reason"]?.string == outcome.reason, "offset \(offset)")
            #expect((capture.lines[offset] == nil) == (outcome.reason == nil), "offset \(offset)")
        }
    }

    @Test func `for each reason, what was presented and what was expected are shown, and differ`() throws {
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

    @Test func `no token, artifact or challenge is in an explanation, or in the page`() throws {
        let shown = try capture.lab.text("explained.ndjson") + capture.page
        let secrets = capture.lab.secrets
        for (index, holder) in secrets.enumerated() {
            // One inspection takes a replay of the capture up to the record.
            let more = try index % 8 == 0 ? capture.inspect(holder.offset).output : ""
            for secret in holder.texts {
                #expect(!shown.contains(secret) && !more.contains(secret), "offset \(holder.offset)")
            }
        }
        #expect(secrets.count > 15)
    }

    /// Records of every seventh reason: each costs a replay of the capture up to it.
    private static let samples: [(String, Int64)] = {
        let outcomes = (try? ReasonCapture.shared.get().outcomes) ?? [:]
        let first = outcomes.compactMap { offset, outcome in outcome.reason.map { ($0, offset) } }
            .sorted { $0.1 < $1.1 }
        return Dictionary(first, uniquingKeysWith: { first, _ in first }).sorted { $0.value < $1.value }
            .enumerated().compactMap { $0.offset % 7 == 0 ? $0.element : nil }
    }()

    @Test(arguments: samples)
    func `inspect of a record says what the replay of the capture says`(reason: String, offset: Int64) throws {
        let report = try capture.inspect(offset).json
        #expect(report["reason"]?.string == reason && report.failedChecks.count == 1)
        #expect(report.failedChecks.first?["reason"]?.string == reason)
        #expect(report.failedChecks.first?["values"]?.elements.isEmpty == false)
    }

    @Test func `an accepted record is explained too, with the state before it`() throws {
        let accepted = capture.outcomes.filter { $0.value.reason == nil }.keys.sorted()
        #expect(accepted.count > 5)
        for offset in accepted.suffix(6) {
            let report = try capture.inspect(offset).json
            #expect(report["verdict"]?.string == "accepted" && report.failedChecks.isEmpty)
            #expect(report["checks"] != nil)
        }
    }

    @Test func `tokens and times beyond all calendars are explained, whoever signed them`() throws {
        let extreme = capture.lab.records.filter { capture.lab.extremes.contains($0.offset) }
        #expect(extreme.count > 20)
        for record in extreme {
            let report = try capture.inspect(record.offset).json
            #expect(report["verdict"]?.string == "refused", "offset \(record.offset)")
            #expect(report.failedChecks.first?["reason"]?.string == report["reason"]?.string, "offset \(record.offset)")
        }
    }

    @Test func `the text shows the state, presented beside expected, the verdict and its meaning`() throws {
        let offset = try #require(capture.outcomes.filter { $0.value.reason == "counter-not-greater" }.keys.min())
        let input = ["--config", capture.lab.config, "--input", capture.lab.file("capture.ndjson")]
        let output = try Transcript.done(["inspect", "--request-id", "request-\(offset)"] + input).output
        for part in [
            "key.counter ", "counter presented: 5", "counter expected:  greater than 5", "FAILED: counter-not-greater",
            "refused: counter-not-greater", "usual cause",
        ] { #expect(output.contains(part), "\(part)") }
        #expect(output.contains(ReasonText.plain(ReasonText.counterNotGreater.action).prefix(30)))
    }

    @Test(arguments: [["--record", "7/7"], ["--request-id", "absent"]])
    func `a record that is not in the capture ends with one line and exit code 1`(sought: [String]) throws {
        let lab = capture.lab
        try lab.write(capture: lab.records.prefix(1), as: "one.ndjson")
        let (code, transcript) = Transcript.run(
            ["inspect", "--config", lab.config, "--input", lab.file("one.ndjson")] + sought
        )
        #expect(code == 1)
        #expect(transcript.error.contains("is not in the capture"))
    }
}
