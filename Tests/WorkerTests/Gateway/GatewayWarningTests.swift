internal import Settings
internal import TestKit
internal import Testing

@testable internal import Worker

@Suite("Warnings about a gateway's configuration")
struct GatewayWarningTests {
    private static let noKey = "worker.json lists no challenge key: challenges get 503"
    private static let noSet = "gateway.publicKeys names no file: no key set is served"

    /// - Returns: a directory of a gateway, with what it lacks.
    private func directory(_ apps: String?, isAtLeastOnce: Bool = false) throws -> KeyDirectory {
        let delivery = #""delivery":"at-least-once","gateway":{"atLeastOnce":true}"#
        let directory = try KeyDirectory(isAtLeastOnce ? delivery : "")
        try directory.files.write("kafka.properties", "bootstrap.servers=localhost:9092\n")
        if let apps { try directory.files.write("apps.json", apps) }
        return directory
    }

    @Test(
        arguments: [
            (nil, false, [noKey, noSet]), (#"{"projects":[]}"#, false, ["apps.json: projects is empty", noKey, noSet]),
            ("{}", false, ["apps.json: projects is", noKey, noSet]),
            (nil, true, [noKey, noSet, "delivery is at-least-once"]),
        ] as [(String?, Bool, [String])]
    )
    func `--check prints the warnings of a start, each on a line`(
        apps: String?,
        isAtLeastOnce: Bool,
        beginnings: [String]
    ) throws {
        let directory = try directory(apps, isAtLeastOnce: isAtLeastOnce)
        let transcript = Transcript()
        let arguments = ["gateway", "--config", directory.path, "--check"]
        let code = AttestWorker.main(arguments, commands: AttestWorker.commands, console: transcript.console)
        #expect(code == 0)
        let lines = transcript.error.split(separator: "\n")
        #expect(lines.count == beginnings.count, "\(lines)")
        for (line, beginning) in zip(lines, beginnings) { #expect(line.hasPrefix("warning: \(beginning)"), "\(line)") }
        // What a start logs is the same list.
        let session = try GatewaySession(directory: directory.path, instance: "g", console: transcript.console)
        #expect(session.warnings.map { "warning: \($0)" } == lines.map(String.init))
    }

    @Test(arguments: [1, 2])
    func `a second project adds a warning where /v1/verify is served: proxies that name none get 400 then`(
        projects: Int
    ) throws {
        let list = (1...projects).map { #"{"number":"\#($0)","apps":[{"appId":"a","appleAppIds":["ABCDE12345.b"]}]}"# }
        let directory = try directory(#"{"projects":[\#(list.joined(separator: ","))]}"#)
        let set = directory.path + "/jwks.json"
        try directory.files.write("jwks.json", #"{"keys":[]}"#)
        try directory.files.write(
            "worker.json",
            #"{"anchors":{"attestation":["root.pem"]},"gateway":{"publicKeys":"\#(set)"}}"#
        )
        let lines = try LoadedGateway.load(directory: directory.path).warnings(now: 0)
        let isSaid = lines.contains { $0.hasPrefix("apps.json lists apps of several projects") }
        #expect(isSaid == (projects > 1), "\(lines)")
    }
}
