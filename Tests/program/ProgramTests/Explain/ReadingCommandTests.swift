internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Streams
internal import TestKit
internal import Testing

/// The reading that fits, wherever a refusal is explained: `inspect`, `replay --explain` and the report.
@Suite("Readings in explanations")
struct ReadingCommandTests {
    private static let sentence =
        "The app hashed the base64 text of the client data: hash the bytes that it stands for."

    /// A verb of ours whose request states its client data.
    private static func record(_ mistake: AppMistake, _ kind: ObjectReport.Kind, _ offset: Int64) -> InboundRecord {
        let device = mistake.device(ca: ReplayFixture.ca, appID: ReplayFixture.appleAppID)
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
        return device.record(Array(value.utf8), offset)
    }

    /// A right attestation, then a mistake of each kind.
    private static func replayed() throws -> ReplayFixture {
        let fixture = try ReplayFixture()
        let mistake = try #require(AppMistake.all.first { $0.name == "base64-text" })
        let device = mistake.device(ca: ReplayFixture.ca, appID: ReplayFixture.appleAppID)
        let right = device.record(RequestRecords.attestation(of: device), 0)
        try fixture.write(capture: [right, record(mistake, .attestation, 1), record(mistake, .assertion, 2)])
        try fixture.replayed(["--explain", fixture.file("explained.ndjson"), "--report", fixture.file("report.html")])
        return fixture
    }

    @Test func `a line of --explain has the reading, the report its sentence, and the results neither`() throws {
        let fixture = try Self.replayed()
        let lines = try fixture.jsonLines("explained.ndjson")
        #expect(lines.map { $0["reason"]?.string } == ["nonce-mismatch", "signature-invalid"])
        for line in lines {
            #expect(line["reading"]?["name"]?.string == "base64-text")
            #expect(line["reading"]?["sentence"]?.string == Self.sentence)
        }
        #expect(try fixture.text("report.html").contains(Self.sentence))
        let results = try fixture.text("out/results.ndjson")
        #expect(results.contains("nonce-mismatch") && !results.contains("reading"))
    }

    @Test(arguments: [(Int64(1), "nonce"), (2, "signature")])
    func `inspect of a record shows the reading below the check that failed`(offset: Int64, check: String) throws {
        let fixture = try Self.replayed()
        let text = try fixture.inspect("0/\(offset)").output
        #expect(text.contains("passes if read as base64-text: \(Self.sentence)"))
        let report = try fixture.inspect("0/\(offset)", ["--json"]).json
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
        let fixture = try ReplayFixture()
        let mistake = try #require(AppMistake.all.first { $0.name == "json-sorted" })
        let device = mistake.device(ca: ReplayFixture.ca, appID: ReplayFixture.appleAppID)
        let time = EvaluationTime(milliseconds: RequestRecords.time - 1000)
        try fixture.write(mistake.object(.attestation, of: device, artifact: [], at: time), to: "object")
        try fixture.write(mistake.clientData, to: "data")
        func reading(_ more: [String]) throws -> String? {
            let arguments = ["inspect", "--config", fixture.path, "--json"] + more + [fixture.file("object")]
            return try Transcript.done(arguments).json.failedChecks.first?["reading"]?["name"]?.string
        }
        #expect(try reading(["--client-data", fixture.file("data")]) == "json-sorted")
        let hash = String(decoding: Base64.encode(SHA256.hash(mistake.clientData).bytes), as: UTF8.self)
        #expect(try reading(["--client-data-hash", hash]) == nil)
    }
}
