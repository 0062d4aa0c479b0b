import DeviceLab
import Foundation
import Pipeline
import Streams
import TestKit
import Testing

/// Captures that other tools than kcat have written, or that people have changed.
@Suite("Captures of other tools")
struct ForeignCaptureTests {
    private static let records = FakeFleet.lab(devices: 3, records: 9).requests

    private static func lines() -> [String] {
        records.map { String(decoding: CaptureCodec.capture([$0]).dropLast(), as: UTF8.self) }
    }

    /// The lines' JSON as Foundation writes it over several lines.
    private static func pretty(_ lines: [String]) throws -> [String] {
        try lines.map { line in
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let data = try JSONSerialization.data(withJSONObject: value, options: [.prettyPrinted, .sortedKeys])
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// The first member beside its bracket, the last one too.
    private static func compact(_ pretty: String) -> String {
        let lines = pretty.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return "{" + lines.dropFirst().dropLast().joined(separator: "\n ") + "}"
    }

    private static let mark = "\u{FEFF}"

    /// Each way of writing the same records.
    private static func shapes() throws -> [String: String] {
        let (lines, pretty) = (lines(), try pretty(lines()))
        return [
            "a mark": mark + lines.joined(separator: "\n") + "\n",
            "a mark and pretty": mark + pretty.joined(separator: "\n"),
            "pretty": pretty.joined(separator: "\n") + "\n", "pretty without a newline": pretty.joined(separator: "\n"),
            "pretty, side by side": pretty.joined(),
            "pretty of Windows": pretty.joined(separator: "\n\n")
                .replacing("\n", with: "\r\n"),
            "pretty, a member beside the bracket": pretty.map(Self.compact).joined(separator: "\n"),
            "the same with blanks": pretty.map { " { " + Self.compact($0).dropFirst() }.joined(separator: " \r\n"),
            "commas in front": lines.map { $0.replacing(#","offset""#, with: "\n, \"offset\"") }.joined(
                separator: "\n"
            ),
            "array of those": "[" + pretty.map(Self.compact).joined(separator: ",\n") + "]",
            "array": "[\n" + pretty.joined(separator: ",\n") + "\n]\n",
            "array of lines": "[" + lines.joined(separator: ",\n") + "]",
            "array on a line": " [ " + lines.joined(separator: " , ") + " ] \n",
            "two arrays": "["
                + lines.prefix(4)
                .joined(separator: ",") + "]\n[\n" + pretty.dropFirst(4).joined(separator: ",\n") + "\n]",
            "mixed": lines.prefix(3).joined(separator: "\n") + "\n" + pretty.dropFirst(3).joined(separator: "\n"),
        ]
    }

    @Test func `every way of writing the records gives the same results`() throws {
        let fixture = try ReplayFixture(Self.records)
        #expect(fixture.replay(output: "own").code == 0)
        let own = try fixture.bytes("own/results.ndjson")
        for (name, text) in try Self.shapes() {
            try fixture.write(text, to: "capture.ndjson")
            let run = fixture.replay()
            #expect(run.code == 0 && run.error.isEmpty, "\(name): \(run.error)")
            #expect(try fixture.bytes("out/results.ndjson") == own, "\(name)")
        }
    }

    /// Writes each line's members in another way, which must give the same outcomes.
    ///
    /// - Returns: what the replay says on standard error.
    private static func judgedAlike(_ write: (inout [String: Any]) throws -> String) throws -> String {
        let fixture = try ReplayFixture(records)
        try fixture.replayed(output: "own")
        let lines = try lines().map { line in
            var record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            return try write(&record)
        }
        try fixture.write(lines.joined(separator: "\n"), to: "capture.ndjson")
        let error = try fixture.replayed().error
        #expect(try fixture.outcomes() == fixture.outcomes("own"))
        return error
    }

    @Test func `a payload that was opened is judged as what it stands for`() throws {
        _ = try Self.judgedAlike { record in
            let payload = try #require(record["payload"] as? String)
            record["payload"] = try JSONSerialization.jsonObject(with: Data(payload.utf8))
            return String(decoding: try JSONSerialization.data(withJSONObject: record), as: UTF8.self)
        }
    }

    @Test func `a record that is cut off in the middle of a file is named by its first line`() throws {
        let (fixture, pretty) = (try ReplayFixture(), try Self.pretty(Self.lines()))
        // Behind a member no object may stand.
        let lines = pretty[1].split(separator: "\n")
        let cut = lines.prefix { !$0.contains("\"offset\"") }.joined(separator: "\n")
        let text = ([pretty[0], cut] + pretty.dropFirst(2)).joined(separator: "\n")
        try fixture.write(text, to: "capture.ndjson")
        let first = pretty[0].split(separator: "\n").count + 1
        let strict = fixture.replay()
        #expect(strict.code == 1 && strict.error.contains("line \(first) is not a capture record"), "\(strict.error)")
        let lenient = fixture.replay(["--skip-bad-lines"])
        #expect(lenient.code == 0)
        #expect(lenient.error.contains("1 line is not a record and was skipped"), "\(lenient.error)")
        #expect(try fixture.outcomes().count == Self.records.count - 1)
    }

    /// As a broken pipe leaves it, in front of a header's name or value.
    @Test(arguments: [#""headers":["#, #""headers":["request-id","#], ["\n", "\r\n", ",\n"])
    func `a line that is cut off within its headers takes no other record along`(end: String, newline: String) throws {
        var lines = Self.lines()
        for index in [2, lines.count - 2] {
            let cut = try #require(lines[index].range(of: end))
            lines[index] = String(lines[index][..<cut.upperBound])
        }
        let isArray = newline.hasPrefix(",")
        let text = lines.enumerated().map { $1 + ($1.hasSuffix("}") ? newline : "\n") }.joined()
        let fixture = try ReplayFixture()
        try fixture.write(isArray ? "[\n\(text)]\n" : text, to: "capture.ndjson")
        let strict = fixture.replay()
        let line = isArray ? 4 : 3
        #expect(strict.code == 1 && strict.error.contains("line \(line) is not a capture"), "\(strict.error)")
        let lenient = fixture.replay(["--skip-bad-lines"])
        #expect(lenient.code == 0 && lenient.error.contains("2 lines are not records and"), "\(lenient.error)")
        #expect(try fixture.outcomes().count == Self.records.count - 2)
    }

    @Test func `headers on lines of their own belong to their record`() throws {
        let error = try Self.judgedAlike { record in
            let id = try #require((record["headers"] as? [String])?.last)
            record["headers"] = nil
            let rest = String(decoding: try JSONSerialization.data(withJSONObject: record), as: UTF8.self)
            let header = #"{"key":"partition","value":"0"},"# + "\n" + #"{"key":"request-id","value":"\#(id)"}"#
            return #"{"headers":["# + "\n\(header)\n]," + rest.dropFirst()
        }
        #expect(error.isEmpty, "\(error)")
    }

    /// At several places, within strings too; behind a line also with a newline, as some tools end a file.
    @Test func `a record that ends with the file is cut off, and those before it count`() throws {
        let (fixture, pretty) = (try ReplayFixture(), try Self.pretty(Self.lines()))
        for (begin, separator, records) in [
            ("", "\n", pretty), ("[", ",\n", pretty), ("", "\n", pretty.map(Self.compact)),
        ] {
            let text = begin + records.joined(separator: separator)
            let last = try #require(records.last)
            var rests = [2, 4, 30, last.count - 5].map { String(text.dropLast($0)) }
            let lines = last.split(separator: "\n")
            rests += lines.indices.dropFirst().map { count in
                text.dropLast(last.count) + lines.prefix(count).joined(separator: "\n") + "\n"
            }
            for rest in rests {
                try fixture.write(rest, to: "capture.ndjson")
                let run = fixture.replay()
                #expect(
                    run.code == 0 && run.error.contains("is cut off and was skipped"),
                    "\(rest.suffix(60)) \(run.error)"
                )
                #expect(try fixture.outcomes().count == Self.records.count - 1)
            }
        }
    }

    @Test(
        arguments: [
            ("[1, 2]\n", "not a JSON object"), ("[\n1\n]\n", "not a JSON object"), ("[{},\n{}]", "partition is not"),
            ("{\n\"partition\": 0\n}\n", "offset is not"), ("{\n{\n", "line 1 is not"),
            ("{\n}\n}\n", "partition is not"),
            ("[{\"partition\":0,\"offset\":0}, x]\n", "line 1 is not"), ("[[]]\n", "line 1 is not"),
        ]
    )
    func `what is no record is refused in one line`(text: String, expected: String) throws {
        let fixture = try ReplayFixture()
        try fixture.write(text, to: "capture.ndjson")
        let run = fixture.replay()
        #expect(run.code == 1 && run.error.contains(expected), "\(run.error)")
        #expect(run.error.split(separator: "\n").count == 1)
        #expect(fixture.replay(["--skip-bad-lines"]).code == 0)
    }

    @Test func `a record without an end is not gathered for ever`() throws {
        let fixture = try ReplayFixture()
        let line = "\"" + String(repeating: "x", count: 1 << 20) + "\",\n"
        try fixture.write("{\n\"a\": [\n", to: "capture.ndjson")
        let handle = try #require(FileHandle(forWritingAtPath: fixture.file("capture.ndjson")))
        handle.seekToEndOfFile()
        for _ in 0..<65 { handle.write(Data(line.utf8)) }
        try handle.close()
        let run = fixture.replay()
        #expect(run.code == 1 && run.error.contains("the record that begins on line 1 is longer than"), "\(run.error)")
    }

    // MARK: Timestamps

    @Test func `what is wrong in an array is no cut record, also where the file ends without a newline`() throws {
        let fixture = try ReplayFixture()
        let lines = Self.lines()
        try fixture.write("[\(lines[0]),{\"partition\":0,\"offset\":1]},\(lines[1])]", to: "capture.ndjson")
        let run = fixture.replay()
        #expect(run.code == 1 && !run.error.contains("cut off"), "\(run.error)")
    }

    @Test func `each capture without a timestamp is named in one line, and one that has it in its last record is not`()
        throws
    {
        let fixture = try ReplayFixture(Self.records)
        let none = Self.records.changed { ($0.partition, $0.timestamp) = (9, -1) }
        let late = none.dropLast() + Self.records.suffix(1)
        try fixture.write(capture: none, as: "none.ndjson")
        try fixture.write(capture: Array(late).changed { $0.partition = 8 }, as: "late.ndjson")
        let others = ["none", "late"].map { fixture.file("\($0).ndjson") }
        let run = fixture.replay(others)
        #expect(run.code == 0)
        let line = "warning: no record of \(others[0]) has a timestamp (ts), so none can be judged"
        #expect(run.error.hasPrefix(line) && run.error.split(separator: "\n").count == 1, "\(run.error)")
    }
}
