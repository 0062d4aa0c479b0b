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
    static let appleAppID = "ABCDE12345.com.example.app"
    static let appID = "1:123456789012:ios:0123456789abcdef"

    static func fleet(devices: Int = 12, records: Int = 240, seed: UInt64 = 3) -> FakeFleet {
        var plan = FleetPlan(
            ca: LabCA(seed: 21),
            seed: seed,
            appIDs: [appleAppID],
            devices: devices,
            records: records,
            start: RequestRecords.now
        )
        plan.faultShare = 0.4
        return FakeFleet(plan)
    }

    static func records(_ fleet: FakeFleet) -> [InboundRecord] {
        let lane = fleet.lane()
        return (0..<fleet.plan.records).map { index in
            let record = lane.record(index)
            let value = RequestRecords.value(
                verb: record.kind == .attestation ? .verifyAttestation : .verifyAssertion,
                object: record.object,
                keyID: record.keyID,
                clientDataHash: record.clientDataHash
            )
            return InboundRecord(
                topic: "appattest.requests",
                partition: Int32(record.step.device % 4),
                offset: Int64(index),
                timestamp: record.time.milliseconds,
                key: record.keyID.recordKey,
                value: value,
                headers: [RecordHeader("request-id", "request-\(index)")]
            )
        }
    }

    static func fixture() throws -> ReplayFixture {
        let ca = LabCA(seed: 21)
        return try ReplayFixture(
            apps: [(appID, appleAppID)],
            attestationPEM: ca.attestationAnchorsPEM,
            receiptPEM: ca.receiptAnchorPEM
        )
    }

    @Test func `a fleet's capture is judged record by record as planned`() throws {
        let fixture = try Self.fixture()
        let fleet = Self.fleet()
        let records = Self.records(fleet)
        try fixture.write(capture: records)
        let run = fixture.replay(["--summary", fixture.directory.path + "/summary.json"])
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
        let summary = try JSONDocument(parsing: fixture.bytes("summary.json")).root
        #expect(summary["requests"]?.integer == Int64(records.count))
        let refused = summary["refused"]?.members.compactMap(\.value.integer).reduce(0, +)
        let total = (summary["accepted"]?.integer ?? 0) + (refused ?? 0) + (summary["deadLetters"]?.integer ?? 0)
        #expect(total == Int64(records.count))
        #expect(run.out.contains("accepted"))
    }

    @Test func `the same capture gives the same bytes, with one lane and with three`() throws {
        let fixture = try Self.fixture()
        try fixture.write(capture: Self.records(Self.fleet()))
        #expect(fixture.replay(["--lanes", "1"], output: "one").code == 0)
        #expect(fixture.replay(["--lanes", "3"], output: "three").code == 0)
        for file in ["results.ndjson", "tokens.ndjson", "events.ndjson", "dead-letters.ndjson"] {
            #expect(try fixture.bytes("one/" + file) == fixture.bytes("three/" + file), "\(file)")
        }
        #expect(try !fixture.bytes("one/results.ndjson").isEmpty)
    }

    @Test func `receipts are a file of their own where an app keeps them, and change no other file`() throws {
        let fixture = try Self.fixture()
        try fixture.write(capture: Self.records(Self.fleet()))
        #expect(fixture.replay(output: "off").code == 0)
        #expect(!FileManager.default.fileExists(atPath: fixture.path + "/off/receipts.ndjson"))
        let anchors = #""anchors":{"attestation":["a.pem"],"receipt":["r.pem"]}"#
        try fixture.directory.write("worker.json", #"{\#(anchors),"topics":{"receipts":"appattest.receipts"}}"#)
        let members = #""appId":"\#(Self.appID)","appleAppIds":["\#(Self.appleAppID)"],"risk":{"mode":"report"}"#
        try fixture.directory.write(
            "apps.json",
            #"{"projects":[{"number":"123456789012","apps":[{\#(members)}]}]}"#
        )
        #expect(fixture.replay(output: "on").code == 0)
        for file in ["results.ndjson", "tokens.ndjson", "events.ndjson", "dead-letters.ndjson"] {
            #expect(try fixture.bytes("on/" + file) == fixture.bytes("off/" + file), "\(file)")
        }
        let kept = try fixture.captured("on/results.ndjson").filter { result in
            let root = try JSONDocument(parsing: result.value ?? []).root
            let isGenuine = root["evidence"]?["receipt"]?["verdict"]?.string == "accepted"
            return root["verdict"]?.string == "accepted" && root["duplicate"] == nil && isGenuine
        }
        let receipts = try fixture.captured("on/receipts.ndjson")
        #expect(!receipts.isEmpty && receipts.map(\.offset) == kept.map(\.offset))
        #expect(receipts.map(\.key) == kept.map(\.key) && receipts.map(\.partition) == kept.map(\.partition))
        #expect(receipts.allSatisfy { $0.topic == "appattest.receipts" && $0.value?.count ?? 0 > 1000 })
    }

    @Test func `keys from a file are known before the first record, unusable points included`() throws {
        let fixture = try Self.fixture()
        let ca = LabCA(seed: 21)
        let devices = (1...4 as ClosedRange<UInt64>).map { FakeDevice(ca: ca, appID: Self.appleAppID, seed: $0) }
        func line(_ device: FakeDevice, counter: Int, key: [UInt8]? = nil, app: String? = nil) -> String {
            let id = Data(device.keyID.bytes).base64EncodedString()
            let point = Data(key ?? device.publicKey.x963).base64EncodedString()
            let bound = app.map { #","app":"\#($0)""# } ?? ""
            return #"{"keyId":"\#(id)","publicKey":"\#(point)","appleAppId":"\#(Self.appleAppID)","#
                + #""environment":"production","counter":\#(counter)\#(bound)}"# + "\n"
        }
        let keys =
            line(devices[0], counter: 5) + line(devices[0], counter: 3)
            + line(devices[1], counter: 0, key: [4, 1, 2, 3])
            + line(devices[2], counter: 0, key: devices[0].publicKey.x963)
            + line(devices[3], counter: 0, app: "projects/123456789012/apps/another")
        try fixture.directory.write("keys.ndjson", keys)
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
        #expect(fixture.replay(["--keys", fixture.directory.path + "/keys.ndjson"]).code == 0)
        #expect(
            try fixture.outcomes() == [
                0: "counter-not-greater", 1: "accepted", 2: "key-invalid", 3: "key-invalid", 4: "key-already-bound",
            ]
        )
    }

    @Test(
        arguments: ["{]\n", "[]", "{\"payload\":\"x\"}", "{}\n"]
    )
    func `a line that is not a record ends the replay, and its number is named`(line: String) throws {
        let fixture = try Self.fixture()
        try fixture.write(capture: Array(Self.records(Self.fleet(records: 14)).prefix(2)))
        var bytes = try fixture.bytes("capture.ndjson")
        bytes += Array(line.utf8)
        try fixture.directory.write("capture.ndjson", bytes)
        let run = fixture.replay()
        #expect(run.code == 1)
        #expect(run.error.contains("line 3 is not a capture record"))
        #expect(run.error.split(separator: "\n").count == 1)
    }

    @Test func `a replay never overwrites the capture or the keys that it reads`() throws {
        let fixture = try Self.fixture()
        try FileManager.default.createDirectory(
            atPath: fixture.directory.path + "/out",
            withIntermediateDirectories: true
        )
        let records = Self.records(Self.fleet())
        try fixture.write(capture: records, as: "out/results.ndjson")
        try fixture.write(capture: records)
        let summary = ["--summary", fixture.directory.path + "/capture.ndjson"]
        try fixture.directory.write("out/tokens.ndjson", "")
        let keys = ["--keys", fixture.directory.path + "/out/../out/tokens.ndjson"]
        for (capture, more, option) in [
            ("out/results.ndjson", [], "--input"), ("capture.ndjson", summary, "--input"),
            ("capture.ndjson", keys, "--keys"),
        ] {
            let path = URL(filePath: fixture.directory.path + "/" + capture)
            let before = try Data(contentsOf: path)
            let (code, _, error) = fixture.replay(more, capture: capture)
            #expect(code == 2 && error.contains("is the file of \(option) and would be overwritten"), "\(error)")
            #expect(try Data(contentsOf: path) == before)
        }
        #expect(fixture.replay().code == 0, "without either there is nothing in the way")
    }

    @Test func `a folder or summary that cannot be created is reported in one line with the cause`() throws {
        let fixture = try Self.fixture()
        try fixture.write(capture: Self.records(Self.fleet()))
        let taken = fixture.replay(output: "capture.ndjson")
        #expect(taken.code == 1 && taken.error.contains("check for a file of that name"), "\(taken.error)")
        let summary = fixture.replay(["--summary", fixture.directory.path + "/none/summary.json"])
        #expect(summary.code == 1 && summary.error.hasSuffix(": No such file or directory.\n"), "\(summary.error)")
        let folder = fixture.replay(capture: ".")
        #expect(folder.code == 1 && folder.error.hasSuffix(": Is a directory.\n"), "\(folder.error)")
    }

    @Test func `a missing capture, directory or keys file is one clear line`() throws {
        let fixture = try Self.fixture()
        let run = fixture.replay(capture: "absent.ndjson")
        #expect(run.code == 1 && run.error.contains("absent.ndjson") && run.error.split(separator: "\n").count == 1)
        try fixture.write(capture: [])
        #expect(fixture.replay().code == 0)
        #expect(fixture.replay(["--keys", "/absent"]).code == 1)
        #expect(fixture.replay(["--lanes", "0"]).code == 2)
    }

    /// A capture of five records that are judged, with the test's own bytes in between or at the end.
    private static func write(to fixture: ReplayFixture, _ change: (inout [[UInt8]]) -> Void) throws {
        var lines: [[UInt8]] = []
        for record in records(fleet(devices: 2, records: 5)) {
            var line: [UInt8] = []
            CaptureCodec.encode(record, into: &line)
            lines.append(line)
        }
        change(&lines)
        try fixture.directory.write("capture.ndjson", lines.flatMap(\.self))
    }

    @Test(arguments: [1, 40, 300, -2])
    func `a truncated last line is skipped with a warning`(bytes: Int) throws {
        let fixture = try Self.fixture()
        try Self.write(to: fixture) { $0[4] = Array($0[4].prefix(bytes < 0 ? $0[4].count + bytes : bytes)) }
        let run = fixture.replay()
        #expect(run.code == 0, "\(run.error)")
        #expect(run.error.contains("the last line (5) is cut off and was skipped"))
        #expect(try fixture.outcomes().count == 4)
    }

    @Test func `a complete last line without a newline counts`() throws {
        let fixture = try Self.fixture()
        try Self.write(to: fixture) { $0[4].removeLast() }
        let run = fixture.replay()
        #expect(run.code == 0, "\(run.error)")
        #expect(!run.error.contains("cut off"))
        #expect(try fixture.outcomes().count == 5)
    }

    @Test func `a bad line in the middle ends the replay, unless the option skips and counts bad lines`() throws {
        let fixture = try Self.fixture()
        try Self.write(to: fixture) {
            $0.insert(Array("{\"key\": 1}\n".utf8), at: 2)
            $0.insert(Array("no json\n".utf8), at: 4)
        }
        let strict = fixture.replay()
        #expect(strict.code == 1)
        #expect(strict.error.contains("line 3 is not a capture record"))
        let lenient = fixture.replay(["--skip-bad-lines", "--summary", fixture.directory.path + "/summary.json"])
        #expect(lenient.code == 0, "\(lenient.error)")
        #expect(lenient.error.contains("2 lines are not records and were skipped"))
        #expect(try fixture.outcomes().count == 5)
        let summary = try JSONDocument(parsing: fixture.bytes("summary.json")).root
        #expect(summary["skippedLines"]?.integer == 2)
        #expect(summary["requests"]?.integer == 5)
    }

    @Test func `an unwritable summary is reported before the work starts`() throws {
        let fixture = try Self.fixture()
        try Self.write(to: fixture) { _ in }
        let run = fixture.replay(["--summary", fixture.directory.path + "/none/summary.json"])
        #expect(run.code == 1)
        #expect(run.error.contains("cannot write"))
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.path + "/out"))
    }

    @Test func `standard input is read once`() throws {
        let fixture = try Self.fixture()
        let transcript = Transcript()
        let code = AttestWorker.main(
            ["replay", "--config", fixture.directory.path, "--input", "-", "--keys", "-", "--output", "none"],
            commands: AttestWorker.commands,
            console: transcript.console
        )
        #expect(code == 2)
        #expect(transcript.error.contains("--input and --keys cannot both be standard input"))
    }
}
