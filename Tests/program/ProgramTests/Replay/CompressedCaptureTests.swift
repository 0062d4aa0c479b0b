import DeviceLab
import Pipeline
import TestKit
import Testing

@testable import CommandFrame

@Suite("compressed captures, and several of them")
struct CompressedCaptureTests {
    private static let records = FakeFleet.lab().requests

    /// Writes as the program does, in parts: the name decides.
    private static func write(
        _ bytes: [UInt8],
        to name: String,
        of fixture: ReplayFixture,
        _ placement: OutputFile.Placement = .inPlace
    ) throws {
        let file = try OutputFile(fixture.file(name), placement)
        for start in stride(from: 0, to: bytes.count, by: 1000) {
            try file.write(Array(bytes[start..<min(start + 1000, bytes.count)]))
        }
        try file.close()
    }

    @Test(arguments: [("capture.gz", OutputFile.Placement.inPlace), ("capture.zst", .whole)])
    func `a compressed capture gives the plain one's bytes`(name: String, placement: OutputFile.Placement) throws {
        let fixture = try ReplayFixture(Self.records)
        try Self.write(CaptureCodec.capture(Self.records), to: name, of: fixture, placement)
        #expect(fixture.replay(output: "plain").code == 0)
        #expect(fixture.replay(output: "packed", capture: name).code == 0)
        #expect(try fixture.differences("plain", "packed") == [])
        #expect(try fixture.bytes(name).count < fixture.bytes("capture.ndjson").count)
    }

    @Test func `several captures are one, in the order given`() throws {
        let fixture = try ReplayFixture(Self.records)
        try fixture.write(capture: Self.records[..<90], as: "first")
        try Self.write(CaptureCodec.capture(Self.records[90..<100]), to: "second.gz", of: fixture)
        try Self.write([], to: "empty.zst", of: fixture)
        // Without its last newline: a file's end is a line's end.
        try Self.write(CaptureCodec.capture(Self.records[100...]).dropLast(), to: "third.zst", of: fixture)
        #expect(fixture.replay(output: "whole").code == 0)
        let more = ["second.gz", "empty.zst", "third.zst"].map(fixture.file)
        #expect(fixture.replay(more, output: "parts", capture: "first").code == 0)
        let repeated = more.flatMap { ["--input", $0] }
        #expect(fixture.replay(repeated, output: "options", capture: "first").code == 0)
        #expect(try fixture.differences("whole", "parts") == [])
        #expect(try fixture.differences("whole", "options") == [])
    }

    @Test func `a bad line is named by its file and its number there`() throws {
        let fixture = try ReplayFixture()
        try fixture.write(capture: Self.records[..<20], as: "first")
        let (before, after) = (CaptureCodec.capture(Self.records[20..<25]), CaptureCodec.capture(Self.records[25..<30]))
        try Self.write(before + Array("no json\n".utf8) + after, to: "second.zst", of: fixture)
        let strict = fixture.replay([fixture.file("second.zst"), fixture.file("first")], capture: "first")
        #expect(strict.code == 1)
        #expect(strict.error.contains("/second.zst: line 6 is not a capture record"), "\(strict.error)")
        let lenient = fixture.replay(["--skip-bad-lines", fixture.file("second.zst")], capture: "first")
        #expect(lenient.code == 0)
        #expect(lenient.error.contains("2 captures: 1 line is not a record and was skipped"), "\(lenient.error)")
    }

    @Test func `each capture may end with a line that is cut off`() throws {
        let fixture = try ReplayFixture()
        let records = FakeFleet.lab(devices: 2, records: 10).requests
        try fixture.write(Array(CaptureCodec.capture(records[..<5]).dropLast(40)), to: "first")
        try fixture.write(Array(CaptureCodec.capture(records[5...]).dropLast(40)), to: "second")
        let run = fixture.replay([fixture.file("second")], capture: "first")
        #expect(run.code == 0, "\(run.error)")
        #expect(try fixture.outcomes().count == 8)
        for name in ["first", "second"] {
            #expect(run.error.contains("/\(name): the last line (5) is cut off and was skipped"), "\(run.error)")
        }
    }

    @Test(arguments: ["capture.gz", "capture.zst"])
    func `a compressed capture that is cut off ends the replay with one line`(name: String) throws {
        let fixture = try ReplayFixture()
        try Self.write(CaptureCodec.capture(Self.records), to: name, of: fixture)
        try fixture.write(Array(fixture.bytes(name).dropLast(100)), to: name)
        let run = fixture.replay(capture: name)
        #expect(run.code == 1)
        #expect(run.error.contains("stream ends too early, after"), "\(run.error)")
        #expect(run.error.split(separator: "\n").count == 1)
    }
}
