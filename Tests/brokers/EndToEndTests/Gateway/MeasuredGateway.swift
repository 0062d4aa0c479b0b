import BrokerKit
import Foundation

/// A gateway on a workplace's broker, with metrics, and the load for each of its panels.
struct MeasuredGateway {
    /// Why it did not come up: what its process says.
    struct NotServing: Error, CustomStringConvertible {
        let description: String
    }

    private static let deadlineSeconds = 3

    let process: ProgramProcess
    private let workplace: ProgramWorkplace
    private let url: String

    /// - Parameters:
    ///   - workplace: of a worker with metrics.
    ///   - port: of the gateway's own metrics.
    init(beside workplace: ProgramWorkplace, metrics port: Int) throws {
        let own = try Int(BrokerPorts.freePort())
        let config = workplace.folder + "/gateway"
        try FileManager.default.copyItem(atPath: workplace.config, toPath: config)
        let file = URL(filePath: config + "/worker.json")
        let settings =
            #""metrics": {"port": \#(port)}, "gateway": {"port": \#(own), "deadline": "\#(Self.deadlineSeconds)s"}"#
        let text = try String(contentsOf: file, encoding: .utf8).replacing(/"metrics": \{[^}]*\}/, with: settings)
        try Data(text.utf8).write(to: file)
        self.workplace = workplace
        url = "http://127.0.0.1:\(own)"
        process = try ProgramProcess(["gateway", "--config", config, "--instance", "g1"], in: workplace.folder)
        guard process.says("serves 127.0.0.1, port \(own)", seconds: 60) else {
            throw NotServing(description: process.error)
        }
    }

    /// Makes the one call that gets 504: no worker runs yet.
    ///
    /// - Returns: its status.
    func late() throws -> String {
        let capture = workplace.folder + "/late.ndjson"
        try workplace.done(
            "simulate",
            ["--devices", "1", "--records", "9", "--verbs", "exchangeAppAttestAssertion", "--output", capture]
        )
        return try python(
            """
            import json
            records = (json.loads(json.loads(line)["payload"]) for line in open(sys.argv[2]))
            call = next(one for one in records if one["path"].endswith(":exchangeAppAttestAssertion"))
            path = "/" + call["path"].lstrip("/")
            request = urllib.request.Request(sys.argv[1] + path, json.dumps(call["body"]).encode())
            print(status(request))
            """,
            capture
        )
    }

    /// Stock clients, a call of an unknown path, and one that is no proper HTTP.
    ///
    /// - Returns: the statuses of the last two.
    func load(seed: UInt64) throws -> String {
        try workplace.done(
            "simulate",
            ["--live", "--via", url, "--devices", "5", "--records", "30", "--seed", "\(seed)"]
        )
        return try python(
            """
            import socket
            from urllib.parse import urlsplit
            print(status(sys.argv[1] + "/no/path"))
            with socket.create_connection((urlsplit(sys.argv[1]).hostname, urlsplit(sys.argv[1]).port), 10) as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\\r\\nHost : a\\r\\n\\r\\n")
                print(connection.recv(100).split()[1].decode())
            """
        )
    }

    private func python(_ script: String, _ arguments: String...) throws -> String {
        let (run, output) = (Process(), Pipe())
        let asking = """
            import sys, urllib.error, urllib.request
            def status(request):
                try:
                    return urllib.request.urlopen(request, timeout=30).status
                except urllib.error.HTTPError as error:
                    return error.code

            """
        run.executableURL = URL(filePath: "/usr/bin/env")
        run.arguments = ["python3", "-c", asking + script, url] + arguments
        run.standardOutput = output
        try run.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        run.waitUntilExit()
        return text.split(separator: "\n").joined(separator: " ")
    }
}
