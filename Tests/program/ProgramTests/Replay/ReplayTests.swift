import AppAttest
import AppCheck
import CommandFrame
import Commands
import Crypto
import DeviceLab
import Foundation
import JSON
import Pipeline
import Streams
import TestKit
import Testing

@Suite("replay")
struct ReplayTests {
    @Test func `a fleet's capture is judged record by record as planned`() throws {
        let fleet = FakeFleet.lab()
        let records = fleet.requests
        let fixture = try ReplayFixture(records)
        let run = fixture.replay(["--summary", fixture.file("summary.json")])
        #expect(run.code == 0, "\(run.error)")
        let outcomes = try fixture.outcomes()
        #expect(outcomes.count == records.count)
        // Faults of policy need a policy, which this app does not have: its devices are right then.
        let policies = ["category-", "bundle-version-", "receipt:missing"]
        for index in records.indices {
            let step = fleet.step(index)
            let reason = step.fault.map(\.expectedReason).flatMap { reason in
                policies.contains { reason.hasPrefix($0) } ? nil : reason
            }
            #expect(outcomes[Int64(index)] == reason ?? "accepted", "record \(index), \(step)")
        }
        let summary = try fixture.json("summary.json")
        #expect(summary["requests"]?.integer == Int64(records.count))
        let refused = summary["refused"]?.members.compactMap(\.value.integer).reduce(0, +)
        let total = (summary["accepted"]?.integer ?? 0) + (refused ?? 0) + (summary["deadLetters"]?.integer ?? 0)
        #expect(total == Int64(records.count))
        #expect(run.out.contains("accepted"))
    }

    @Test func `the same capture gives the same bytes, with one lane and with three`() throws {
        let fixture = try ReplayFixture(FakeFleet.lab().requests)
        #expect(fixture.replay(["--lanes", "1"], output: "one").code == 0)
        #expect(fixture.replay(["--lanes", "3"], output: "three").code == 0)
        #expect(try fixture.differences("one", "three") == [])
        #expect(try !fixture.bytes("one/results.ndjson").isEmpty)
    }

    @Test func `receipts are a file of their own where an app keeps them, and change no other file`() throws {
        let fixture = try ReplayFixture(FakeFleet.lab().requests)
        #expect(fixture.replay(output: "off").code == 0)
        #expect(!FileManager.default.fileExists(atPath: fixture.file("off/receipts.ndjson")))
        let anchors = #""anchors":{"attestation":["a.pem"],"receipt":["r.pem"]}"#
        try fixture.write(#"{\#(anchors),"topics":{"receipts":"appattest.receipts"}}"#, to: "worker.json")
        try fixture.edit("apps.json", #""appleAppIds""#, #""risk":{"mode":"report"},"appleAppIds""#)
        #expect(fixture.replay(output: "on").code == 0)
        #expect(try fixture.differences("on", "off") == [])
        let kept = try fixture.captured("on/results.ndjson").filter { result in
            let root = try result.json
            let isGenuine = root["evidence"]?["receipt"]?["verdict"]?.string == "accepted"
            return root["verdict"]?.string == "accepted" && root["duplicate"] == nil && isGenuine
        }
        let receipts = try fixture.captured("on/receipts.ndjson")
        #expect(!receipts.isEmpty && receipts.map(\.offset) == kept.map(\.offset))
        #expect(receipts.map(\.key) == kept.map(\.key) && receipts.map(\.partition) == kept.map(\.partition))
        #expect(receipts.allSatisfy { $0.topic == "appattest.receipts" && $0.value?.count ?? 0 > 1000 })
    }

    @Test func `keys from a file are known before the first record, unusable points included`() throws {
        let fixture = try ReplayFixture()
        let (ca, appID) = (ReplayFixture.ca, ReplayFixture.appleAppID)
        let devices = (1...4 as ClosedRange<UInt64>).map { FakeDevice(ca: ca, appID: appID, seed: $0) }
        func line(_ device: FakeDevice, counter: Int, key: [UInt8]? = nil, app: String? = nil) -> String {
            let id = Data(device.keyID.bytes).base64EncodedString()
            let point = Data(key ?? device.publicKey.x963).base64EncodedString()
            let bound = app.map { #","app":"\#($0)""# } ?? ""
            return #"{"keyId":"\#(id)","publicKey":"\#(point)","appleAppId":"\#(appID)","#
                + #""environment":"production","counter":\#(counter)\#(bound)}"# + "\n"
        }
        let keys =
            line(devices[0], counter: 5) + line(devices[0], counter: 3)
            + line(devices[1], counter: 0, key: [4, 1, 2, 3])
            + line(devices[2], counter: 0, key: devices[0].publicKey.x963)
            + line(devices[3], counter: 0, app: "projects/123456789012/apps/another")
        try fixture.write(keys, to: "keys.ndjson")
        func record(_ device: FakeDevice, _ counter: UInt32, _ offset: Int64) -> InboundRecord {
            RequestRecords.record(
                RequestRecords.assertion(of: device, counter: counter),
                key: device.keyID.recordKey,
                offset: offset
            )
        }
        try fixture.write(capture: [
            record(devices[0], 5, 0), record(devices[0], 6, 1), record(devices[1], 1, 2), record(devices[2], 1, 3),
            record(devices[3], 1, 4),
        ])
        #expect(fixture.replay(["--keys", fixture.file("keys.ndjson")]).code == 0)
        #expect(
            try fixture.outcomes() == [
                0: "counter-not-greater", 1: "accepted", 2: "key-invalid", 3: "key-invalid", 4: "key-already-bound",
            ]
        )
    }

    @Test(arguments: ["{]\n", "[]", "{\"payload\":\"x\"}", "{}\n"])
    func `a line that is not a record ends the replay, and its number is named`(line: String) throws {
        let fixture = try ReplayFixture()
        let bytes = CaptureCodec.capture(FakeFleet.lab(records: 14).requests.prefix(2))
        try fixture.write(bytes + Array(line.utf8), to: "capture.ndjson")
        let run = fixture.replay()
        #expect(run.code == 1)
        #expect(run.error.contains("line 3 is not a capture record"))
        #expect(run.error.split(separator: "\n").count == 1)
    }

    @Test func `a replay never overwrites the capture or the keys that it reads`() throws {
        let records = FakeFleet.lab().requests
        let fixture = try ReplayFixture(records)
        try FileManager.default.createDirectory(atPath: fixture.file("out"), withIntermediateDirectories: true)
        try fixture.write(capture: records, as: "out/results.ndjson")
        let summary = ["--summary", fixture.file("capture.ndjson")]
        try fixture.write("", to: "out/tokens.ndjson")
        let keys = ["--keys", fixture.file("out/../out/tokens.ndjson")]
        for (capture, more, option) in [
            ("out/results.ndjson", [], "--input"), ("capture.ndjson", summary, "--input"),
            ("capture.ndjson", keys, "--keys"),
        ] {
            let before = try fixture.bytes(capture)
            let (code, _, error) = fixture.replay(more, capture: capture)
            #expect(code == 2 && error.contains("is the file of \(option) and would be overwritten"), "\(error)")
            #expect(try fixture.bytes(capture) == before)
        }
        #expect(fixture.replay().code == 0, "without either there is nothing in the way")
    }

    /// Options with their exit code and the words of the line. Only what is found amid the work leaves a folder.
    @Test(
        arguments: [
            ("--input DIR/absent", 1, "cannot read DIR/absent: no such file"),
            ("--input DIR/capture.ndjson DIR/absent", 1, "cannot read DIR/absent: no such file"),
            ("--input DIR", 1, ": Is a directory."), ("--input DIR/capture.ndjson --keys DIR/absent", 1, "DIR/absent"),
            ("--input DIR/capture.ndjson --summary DIR/none/summary.json", 1, ": No such file or directory."),
            ("--input DIR/capture.ndjson --lanes 0", 2, "--lanes must be a whole number"),
            ("--input - -", 2, "standard input is named twice"), ("", 2, "--input CAPTURE is required"),
            ("--input - --keys -", 2, "--input and --keys cannot both be standard input"),
        ] as [(String, Int32, String)]
    )
    func `what cannot be read or written is one line before the work`(
        options: String,
        code: Int32,
        words: String
    ) throws {
        let fixture = try ReplayFixture(FakeFleet.lab(devices: 1, records: 3).requests)
        let more = options.replacing("DIR", with: fixture.path).split(separator: " ").map(String.init)
        let run = Transcript.run(["replay", "--config", fixture.config, "--output", fixture.file("out")] + more)
        let error = run.transcript.error.replacing(fixture.path, with: "DIR")
        #expect(run.code == code && error.contains(words), "\(error)")
        #expect(error.split(separator: "\n").count == 1)
        let isMade = FileManager.default.fileExists(atPath: fixture.file("out"))
        #expect(!isMade || words == ": Is a directory.", "\(options)")
    }

    @Test func `a folder that cannot be created is reported in one line with the cause`() throws {
        let taken = try ReplayFixture().replay(output: "capture.ndjson")
        #expect(taken.code == 1 && taken.error.contains("check for a file of that name"), "\(taken.error)")
    }

    @Test(arguments: ["new/summary.json", "./new/summary.json", "new/inner/../summary.json"])
    func `a summary in the folder of the output, which is yet to be made, is written`(path: String) throws {
        let fixture = try ReplayFixture(FakeFleet.lab(devices: 1, records: 3).requests)
        let isInner = path.contains("inner")
        let run = fixture.replay(["--summary", fixture.file(path)], output: "new")
        #expect(run.code == (isInner ? 1 : 0), "\(run.error)")
        #expect(FileManager.default.fileExists(atPath: fixture.file("new/summary.json")) == !isInner)
        #expect(FileManager.default.fileExists(atPath: fixture.file("new")) == !isInner)
    }

    /// A capture of five records that are judged, with the test's own bytes in between or at the end.
    private static func replay(_ more: String..., change: (inout [[UInt8]]) -> Void) throws -> (ReplayFixture, String) {
        let fixture = try ReplayFixture()
        var lines = FakeFleet.lab(devices: 2, records: 5).requests.map { CaptureCodec.capture([$0]) }
        change(&lines)
        try fixture.write(lines.flatMap(\.self), to: "capture.ndjson")
        return (fixture, try fixture.replayed(more.map { $0.replacing("DIR", with: fixture.path) }).error)
    }

    @Test(arguments: [1, 40, 300, -2])
    func `a truncated last line is skipped with a warning`(bytes: Int) throws {
        let (fixture, error) = try Self.replay {
            $0[4] = Array($0[4].prefix(bytes < 0 ? $0[4].count + bytes : bytes))
        }
        #expect(error.contains("the last line (5) is cut off and was skipped"))
        #expect(try fixture.outcomes().count == 4)
    }

    @Test func `a complete last line without a newline counts`() throws {
        let (fixture, error) = try Self.replay { $0[4].removeLast() }
        #expect(!error.contains("cut off"))
        #expect(try fixture.outcomes().count == 5)
    }

    @Test func `an option skips and counts bad lines`() throws {
        let (fixture, error) = try Self.replay("--skip-bad-lines", "--summary", "DIR/summary.json") {
            $0.insert(Array("{\"key\": 1}\n".utf8), at: 2)
            $0.insert(Array("no json\n".utf8), at: 4)
        }
        #expect(error.contains("2 lines are not records and were skipped"))
        #expect(try fixture.outcomes().count == 5)
        let summary = try fixture.json("summary.json")
        #expect(summary["skippedLines"]?.integer == 2)
        #expect(summary["requests"]?.integer == 5)
    }
}
