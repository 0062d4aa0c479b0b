internal import JSON
internal import Pipeline
internal import Streams
internal import TestKit
internal import Testing

/// A folder with a configuration and captures, for the commands that read both.
protocol ReplayFolder: FileFolder {
    var config: String { get }
}

extension ReplayFolder {
    func write(capture records: some Sequence<InboundRecord>, as name: String = "capture.ndjson") throws {
        try write(CaptureCodec.capture(records), to: name)
    }

    /// Runs `replay`; returns its exit code and what it printed.
    func replay(
        _ more: [String] = [],
        output: String = "out",
        capture: String = "capture.ndjson"
    ) -> (code: Int32, out: String, error: String) {
        let (code, transcript) = Transcript.run(replaying(more, output, capture))
        return (code, transcript.output, transcript.error)
    }

    /// Runs `replay`, which must end with exit code 0.
    @discardableResult
    func replayed(
        _ more: [String] = [],
        output: String = "out",
        capture: String = "capture.ndjson",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Transcript {
        try Transcript.done(replaying(more, output, capture), sourceLocation: sourceLocation)
    }

    private func replaying(_ more: [String], _ output: String, _ capture: String) -> [String] {
        ["replay", "--config", config, "--input", file(capture), "--output", file(output)] + more
    }

    /// Runs `inspect` on a record, which must end with exit code 0.
    func inspect(
        _ record: String,
        _ more: [String] = [],
        capture: String = "capture.ndjson",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Transcript {
        let input = ["--config", config, "--input", file(capture), "--record", record]
        return try Transcript.done(["inspect"] + input + more, sourceLocation: sourceLocation)
    }

    /// The results of a replay.
    func results(_ output: String = "out") throws -> [JSONNode] {
        try captured(output + "/results.ndjson").map { try $0.json }
    }

    /// The files that two replays have written with different bytes.
    func differences(_ one: String, _ other: String) throws -> [String] {
        try ["results", "tokens", "events", "dead-letters"].filter { name in
            try bytes("\(one)/\(name).ndjson") != bytes("\(other)/\(name).ndjson")
        }
    }

    /// A replay's lines of `--explain` by their offsets.
    func explained() throws -> [Int64: JSONNode] {
        var lines: [Int64: JSONNode] = [:]
        for root in try jsonLines("explained.ndjson") { lines[try #require(root["offset"]?.integer)] = root }
        return lines
    }
}

extension InboundRecord {
    /// The value as JSON.
    var json: JSONNode { get throws { try JSONDocument(parsing: value ?? []).root } }
}

extension JSONNode {
    /// The outcome that a result states: `accepted` or the reason.
    var outcome: String? { self["reason"]?.string ?? self["verdict"]?.string }

    /// The explained checks that have failed.
    var failedChecks: [JSONNode] { (self["checks"]?.elements ?? []).filter { $0["result"]?.string == "failed" } }
}
