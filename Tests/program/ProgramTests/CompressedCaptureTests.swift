import Compression
import Foundation
import Pipeline
import Streams
import TestKit
import Testing

@testable import BrokerKit
@testable import CommandFrame

@Suite("compressed captures, and several of them")
struct CompressedCaptureTests {
    private static let outputs = ["results.ndjson", "tokens.ndjson", "events.ndjson", "dead-letters.ndjson"]

    private static func lines(_ records: some Sequence<InboundRecord>) -> [UInt8] {
        var bytes: [UInt8] = []
        for record in records { CaptureCodec.encode(record, into: &bytes) }
        return bytes
    }

    /// Writes as the program does: the name decides.
    private static func write(_ bytes: [UInt8], to name: String, of fixture: ReplayFixture) throws {
        let file = try OutputFile(fixture.file(name))
        try file.write(bytes)
        try file.close()
    }

    @Test(arguments: ["capture.gz", "capture.zst"])
    func `a compressed capture gives the plain one's bytes`(name: String) throws {
        let fixture = try ReplayTests.fixture()
        let records = ReplayTests.records(ReplayTests.fleet())
        try fixture.write(capture: records)
        try Self.write(Self.lines(records), to: name, of: fixture)
        #expect(fixture.replay(output: "plain").code == 0)
        #expect(fixture.replay(output: "packed", capture: name).code == 0)
        for file in Self.outputs { #expect(try fixture.bytes("plain/" + file) == fixture.bytes("packed/" + file)) }
        #expect(try fixture.bytes(name).count < fixture.bytes("capture.ndjson").count)
    }

    @Test func `several captures are one, in the order given`() throws {
        let fixture = try ReplayTests.fixture()
        let records = ReplayTests.records(ReplayTests.fleet())
        try fixture.write(capture: records)
        try fixture.write(capture: Array(records[..<90]), as: "first")
        try Self.write(Self.lines(records[90..<100]), to: "second.gz", of: fixture)
        try Self.write([], to: "empty.zst", of: fixture)
        // Without its last newline: a file's end is a line's end.
        try Self.write(Self.lines(records[100...]).dropLast(), to: "third.zst", of: fixture)
        #expect(fixture.replay(output: "whole").code == 0)
        let more = ["second.gz", "empty.zst", "third.zst"].map(fixture.file)
        #expect(fixture.replay(more, output: "parts", capture: "first").code == 0)
        let repeated = more.flatMap { ["--input", $0] }
        #expect(fixture.replay(repeated, output: "options", capture: "first").code == 0)
        for file in Self.outputs {
            #expect(try fixture.bytes("whole/" + file) == fixture.bytes("parts/" + file), "\(file)")
            #expect(try fixture.bytes("whole/" + file) == fixture.bytes("options/" + file), "\(file)")
        }
    }

    @Test func `a bad line is named by its file and its number there`() throws {
        let fixture = try ReplayTests.fixture()
        let records = ReplayTests.records(ReplayTests.fleet())
        try fixture.write(capture: Array(records[..<20]), as: "first")
        let bad = Self.lines(records[20..<25]) + Array("no json\n".utf8) + Self.lines(records[25..<30])
        try Self.write(bad, to: "second.zst", of: fixture)
        let strict = fixture.replay([fixture.file("second.zst"), fixture.file("first")], capture: "first")
        #expect(strict.code == 1)
        #expect(strict.error.contains("/second.zst: line 6 is not a capture record"), "\(strict.error)")
        let lenient = fixture.replay(["--skip-bad-lines", fixture.file("second.zst")], capture: "first")
        #expect(lenient.code == 0)
        #expect(lenient.error.contains("2 captures: 1 line is not a record and was skipped"), "\(lenient.error)")
    }

    @Test func `each capture may end with a line that is cut off`() throws {
        let fixture = try ReplayTests.fixture()
        let records = ReplayTests.records(ReplayTests.fleet(devices: 2, records: 10))
        try fixture.directory.write("first", Array(Self.lines(records[..<5]).dropLast(40)))
        try fixture.directory.write("second", Array(Self.lines(records[5...]).dropLast(40)))
        let run = fixture.replay([fixture.file("second")], capture: "first")
        #expect(run.code == 0, "\(run.error)")
        #expect(try fixture.outcomes().count == 8)
        for name in ["first", "second"] {
            #expect(run.error.contains("/\(name): the last line (5) is cut off and was skipped"), "\(run.error)")
        }
    }

    @Test(arguments: ["capture.gz", "capture.zst"])
    func `a compressed capture that is cut off ends the replay with one line`(name: String) throws {
        let fixture = try ReplayTests.fixture()
        try Self.write(Self.lines(ReplayTests.records(ReplayTests.fleet())), to: name, of: fixture)
        try fixture.directory.write(name, Array(try fixture.bytes(name).dropLast(100)))
        let run = fixture.replay(capture: name)
        #expect(run.code == 1)
        #expect(run.error.contains("stream ends too early, after"), "\(run.error)")
        #expect(run.error.split(separator: "\n").count == 1)
    }

    @Test(
        arguments: [
            (["--input", "-", "-"], 2, "standard input is named twice"),
            (["--input", "capture.ndjson", "absent"], 1, "cannot read absent: no such file"),
            ([], 2, "--input CAPTURE is required"),
        ] as [([String], Int32, String)]
    )
    func `captures that cannot be read are one line before the work`(more: [String], code: Int32, text: String) throws {
        let fixture = try ReplayTests.fixture()
        try fixture.write(capture: [])
        let paths = more.map { $0 == "capture.ndjson" ? fixture.file($0) : $0 }
        let run = Transcript.run(["replay", "--config", fixture.path, "--output", fixture.file("out")] + paths)
        #expect(run.0 == code && run.1.error.contains(text), "\(run.1.error)")
        #expect(!FileManager.default.fileExists(atPath: fixture.file("out")))
    }

    @Test(arguments: [("out.gz", OutputFile.Placement.inPlace), ("out.zst", .whole)])
    func `an output's name decides about its bytes, and nothing is lost`(
        name: String,
        place: OutputFile.Placement
    ) throws {
        let fixture = try ReplayTests.fixture()
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 400_000)
        let file = try OutputFile(fixture.file(name), place)
        for start in stride(from: 0, to: text.count, by: 1000) { try file.write(Array(text[start..<start + 1000])) }
        try file.close()
        let bytes = try fixture.bytes(name)
        let decompressor = try Decompressor(try #require(CompressionFormat(naming: name)))
        #expect(try decompressor.next(bytes, from: 0, capacity: 500_000).bytes == text && decompressor.isComplete)
    }
}
