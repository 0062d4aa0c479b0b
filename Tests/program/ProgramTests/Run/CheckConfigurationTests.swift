internal import Foundation
internal import TestKit
internal import Testing

/// `run --check=config` as an operator meets it.
@Suite("--check")
struct CheckConfigurationTests {
    private static func check(_ change: (SimulationFolder) throws -> Void) throws -> (code: Int32, lines: [Substring]) {
        let folder = try SimulationFolder.configured()
        try change(folder)
        let (code, transcript) = Transcript.run(["run", "--check=config", "--config", folder.config])
        return (code, transcript.error.split(separator: "\n"))
    }

    @Test func `a lab authority's roots are reported, and no other root`() throws {
        let (code, lines) = try Self.check { folder in
            let apple = PackageFolder.url.appending(path: "Config/anchors/Apple_App_Attestation_Root_CA.pem").path
            try folder.edit("config/worker.json", #""attestation": ["#, #""attestation": ["\#(apple)", "#)
        }
        #expect(code == 0)
        for name in ["attestation", "receipt"] {
            let found = lines.filter { $0.hasPrefix("warning: worker.json: anchors.\(name): ") }
            #expect(found.count == 1 && found[0].contains("lab-\(name)-root.pem is a lab authority's root"), "\(lines)")
        }
    }

    @Test(
        arguments: [
            ("{}", 2), (#"{"projects":[]}"#, 2), (#"{"projects":[{"number":"1","apps":[]}]}"#, 2),
            (#"{"retired":["projects/1/apps/a"]}"#, 0),
        ]
    )
    func `an apps.json without an app is refused, unless it names one that is retired`(apps: String, end: Int32) throws
    {
        let (code, lines) = try Self.check { try $0.write(apps, to: "config/apps.json") }
        #expect(code == end)
        #expect(lines.contains { $0.contains("apps.json lists no app") } == (end == 2), "\(lines)")
    }

    @Test func `what the library would misread is refused with its line, beside all other faults`() throws {
        let (code, lines) = try Self.check { folder in
            let more = "receive.message.max.bytes=64M\nclient.rack=\"a\"\nfetch.min.bytes=010\nno.such=1\nacks=1\n"
            try folder.write(folder.text("config/kafka.properties") + more, to: "config/kafka.properties")
            try folder.write(#"{"projects":1}"#, to: "config/apps.json")
        }
        #expect(code == 2)
        let problems = [
            "apps.json: projects: must be a list of objects",
            "receive.message.max.bytes: must be a whole number (1000 .. ",
            "client.rack: the quotes would be part of the value", "fetch.min.bytes: must be a whole number",
            "no.such: No such configuration property", "acks: exactly-once needs",
        ]
        try #require(lines.count == problems.count, "\(lines)")
        for (line, problem) in zip(lines, problems) {
            #expect(line.hasPrefix("attest-worker: ") && line.contains(problem), "\(line)")
        }
    }
}
