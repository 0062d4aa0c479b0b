import DeviceLab
import Foundation
import JSON
import Pipeline
import Settings
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
        let devices = (1...4 as ClosedRange<UInt64>).map(KeySamples.device)
        // Two lines of the first device.
        var keys = [(1, 5), (1, 3), (2, 0), (3, 0), (4, 0)].map { KeySamples.key($0, counter: $1) }
        (keys[2].publicKeyBytes, keys[3].publicKeyBytes) = ([4, 1, 2, 3], keys[0].publicKeyBytes)
        keys[4].app = "projects/123456789012/apps/another"
        try fixture.write(KeySamples.file(keys), to: "keys.ndjson")
        func record(_ device: FakeDevice, _ counter: UInt32, _ offset: Int64) -> InboundRecord {
            device.record(RequestRecords.assertion(of: device, counter: counter), offset)
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

    /// A mistake found before the work leaves no folder.
    @Test(
        arguments: [
            ("--input DIR/absent", "cannot read DIR/absent: no such file"),
            ("--input DIR/capture.ndjson DIR/absent", "cannot read DIR/absent: no such file"),
            ("--input DIR", ": Is a directory."), ("--input DIR/capture.ndjson --keys DIR/absent", "DIR/absent"),
            ("--input DIR/capture.ndjson --summary DIR/none/summary.json", ": No such file or directory."),
        ]
    )
    func `what cannot be read or written is one line before the work`(options: String, words: String) throws {
        let fixture = try ReplayFixture(FakeFleet.lab(devices: 1, records: 3).requests)
        let more = options.replacing("DIR", with: fixture.path).split(separator: " ").map(String.init)
        let run = Transcript.run(["replay", "--config", fixture.config, "--output", fixture.file("out")] + more)
        let error = run.transcript.error.replacing(fixture.path, with: "DIR")
        #expect(run.code == 1 && error.contains(words), "\(error)")
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
