import AppAttest
import AppCheck
import Commands
import DeviceLab
import Foundation
import JSON
import Pipeline
import Streams
import TestKit

/// A replay as a user runs it: a config directory, a capture, the command, the files.
struct ReplayFixture: FileFolder {
    let directory: ConfigurationDirectory
    var path: String { directory.path }

    /// A directory for these Apple App IDs, with anchors as PEM and policies as apps.json members.
    init(
        apps: [(appID: String, appleAppID: String)],
        attestationPEM: [UInt8],
        receiptPEM: [UInt8],
        policies: String = ""
    )
        throws
    {
        let entries = apps.map { app in
            let members = policies.isEmpty ? "" : "," + policies
            return #"{"appId":"\#(app.appID)","appleAppIds":["\#(app.appleAppID)"]\#(members)}"#
        }
        directory = try ConfigurationDirectory(
            worker: #"{"anchors":{"attestation":["a.pem"],"receipt":["r.pem"]}}"#,
            apps: #"{"projects":[{"number":"123456789012","apps":[\#(entries.joined(separator: ","))]}]}"#
        )
        try directory.write("a.pem", attestationPEM)
        try directory.write("r.pem", receiptPEM)
    }

    func write(capture records: [InboundRecord], as name: String = "capture.ndjson") throws {
        var bytes: [UInt8] = []
        for record in records { CaptureCodec.encode(record, into: &bytes) }
        try directory.write(name, bytes)
    }

    /// Runs the command; returns its exit code and what it printed.
    func replay(
        _ more: [String] = [],
        output: String = "out",
        capture: String = "capture.ndjson"
    ) -> (
        code: Int32, out: String, error: String
    ) {
        let arguments =
            ["replay", "--config", directory.path, "--input", directory.path + "/" + capture]
            + ["--output", directory.path + "/" + output] + more
        let (code, transcript) = Transcript.run(arguments)
        return (code, transcript.output, transcript.error)
    }

    /// Outcome by offset: `accepted` or the reason.
    func outcomes(_ output: String = "out") throws -> [Int64: String] {
        var outcomes: [Int64: String] = [:]
        for record in try captured(output + "/results.ndjson") {
            let root = try JSONDocument(parsing: record.value ?? []).root
            outcomes[record.offset] = root["reason"]?.string ?? root["verdict"]?.string
        }
        return outcomes
    }
}
