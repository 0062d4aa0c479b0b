internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Pipeline
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Commands

/// The reading that fits, wherever a refusal is explained: `inspect`, `replay --explain` and the report.
@Suite("Readings in explanations")
struct ReadingCommandTests {
    private static let ca = LabCA(seed: 21)
    private static let sentence =
        "The app hashed the base64 text of the client data: hash the bytes that it stands for."

    /// A verb of ours whose request states its client data.
    private static func record(_ mistake: AppMistake, _ kind: ObjectReport.Kind, _ offset: Int64) -> InboundRecord {
        let device = mistake.device(ca: ca, appID: ReplayTests.appleAppID)
        let time = EvaluationTime(milliseconds: RequestRecords.time - 1000)
        let object = mistake.object(kind, of: device, artifact: [], at: time)
        let (verb, name) =
            kind == .attestation ? ("verifyAttestation", "attestationStatement") : ("verifyAssertion", "assertion")
        func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }
        let members = [
            #""keyId":"\#(text(device.keyID.bytes))""#, #""\#(name)":"\#(text(object))""#,
            #""clientData":"\#(text(mistake.clientData))""#,
        ]
        let value = #"{"path":"\#(RequestRecords.path):\#(verb)","body":{\#(members.joined(separator: ","))}}"#
        return RequestRecords.record(Array(value.utf8), key: device.keyID.recordKey, offset: offset, id: "r\(offset)")
    }

    /// A right attestation, then a mistake of each kind.
    private static func replayed() throws -> ReplayFixture {
        let fixture = try ReplayTests.fixture()
        let mistake = try #require(AppMistake.all.first { $0.name == "base64-text" })
        let device = mistake.device(ca: ca, appID: ReplayTests.appleAppID)
        let right = RequestRecords.attestation(of: device)
        try fixture.write(capture: [
            RequestRecords.record(right, key: device.keyID.recordKey, offset: 0, id: "r0"),
            record(mistake, .attestation, 1), record(mistake, .assertion, 2),
        ])
        let run = fixture.replay([
            "--explain", fixture.path + "/explained.ndjson", "--report", fixture.path + "/report.html",
        ])
        try #require(run.code == 0, "\(run.error)")
        return fixture
    }

    @Test func `a line of --explain has the reading, the report its sentence, and the results neither`() throws {
        let fixture = try Self.replayed()
        let lines = try fixture.bytes("explained.ndjson").split(separator: 0x0A).map {
            try JSONDocument(parsing: Array($0)).root
        }
        #expect(lines.map { $0["reason"]?.string } == ["nonce-mismatch", "signature-invalid"])
        for line in lines {
            #expect(line["reading"]?["name"]?.string == "base64-text")
            #expect(line["reading"]?["sentence"]?.string == Self.sentence)
        }
        let report = String(decoding: try fixture.bytes("report.html"), as: UTF8.self)
        #expect(report.contains(Self.sentence))
        let results = String(decoding: try fixture.bytes("out/results.ndjson"), as: UTF8.self)
        #expect(results.contains("nonce-mismatch") && !results.contains("reading"))
    }

    @Test func `explaining changes no output`() throws {
        let fixture = try Self.replayed()
        #expect(fixture.replay(output: "plain").code == 0)
        for name in ["results", "tokens", "events", "dead-letters"] {
            let (explained, plain) = (
                try fixture.bytes("out/\(name).ndjson"), try fixture.bytes("plain/\(name).ndjson")
            )
            #expect(explained == plain, "\(name)")
        }
    }

    @Test(arguments: [(Int64(1), "nonce"), (2, "signature")])
    func `inspect of a record shows the reading below the check that failed`(offset: Int64, check: String) throws {
        let fixture = try Self.replayed()
        func inspect(_ more: [String]) throws -> String {
            let (code, transcript) = Transcript.run(
                [
                    "inspect", "--config", fixture.path, "--input", fixture.path + "/capture.ndjson", "--record",
                    "0/\(offset)",
                ] + more
            )
            try #require(code == 0, "\(transcript.error)")
            return transcript.output
        }
        #expect(try inspect([]).contains("passes if read as base64-text: \(Self.sentence)"))
        let report = try JSONDocument(parsing: Array(inspect(["--json"]).utf8)).root
        for found in report["checks"]?.elements ?? [] {
            let isFailed = found["name"]?.string == check
            #expect((found["result"]?.string == "failed") == isFailed)
            #expect((found["reading"]?["name"]?.string == "base64-text") == isFailed)
        }
    }

    @Test func `the page lists each reading`() throws {
        let page = PackageFolder.url.appending(path: "Sources/program/attest-worker/Documentation.docc/Reasons.md")
        let text = String(decoding: try Data(contentsOf: page), as: UTF8.self)
        for reading in Reading.all { #expect(text.contains("`\(reading.name)`"), "\(reading.name)") }
    }

    @Test func `inspect of an object reads the client data of a file`() throws {
        let fixture = try ReplayTests.fixture()
        let mistake = try #require(AppMistake.all.first { $0.name == "json-sorted" })
        let device = mistake.device(ca: Self.ca, appID: ReplayTests.appleAppID)
        let time = EvaluationTime(milliseconds: RequestRecords.time - 1000)
        try fixture.directory.write("object", mistake.object(.attestation, of: device, artifact: [], at: time))
        try fixture.directory.write("data", mistake.clientData)
        func reading(_ more: [String]) throws -> String? {
            let (code, transcript) = Transcript.run(
                ["inspect", "--config", fixture.path, "--json"] + more + [fixture.path + "/object"]
            )
            try #require(code == 0, "\(transcript.error)")
            let checks = try JSONDocument(parsing: Array(transcript.output.utf8)).root["checks"]?.elements ?? []
            return checks.first { $0["result"]?.string == "failed" }?["reading"]?["name"]?.string
        }
        #expect(try reading(["--client-data", fixture.path + "/data"]) == "json-sorted")
        let hash = String(decoding: Base64.encode(SHA256.hash(mistake.clientData).bytes), as: UTF8.self)
        #expect(try reading(["--client-data-hash", hash]) == nil)
    }
}
