import BrokerKit
import Crypto
import Foundation
import JSON
import Kafka
import Testing

/// The gateway as a process, before a worker and a real broker, with stock clients over HTTP.
@Suite(
    "The gateway on a real broker",
    .brokerTests,
    .cluster(),
    .serialized,
    .timeLimit(.minutes(20))
)
struct GatewayProgramTests {
    private static let secret = "the-backends-own-secret"

    private struct Site {
        let workplace: ProgramWorkplace
        let port: Int
        let worker: ProgramProcess
        var gateway: ProgramProcess

        var url: String { "http://127.0.0.1:\(port)" }
    }

    /// - Parameter topics: more members of worker.json's topics, each followed by a comma.
    private func site(_ name: String, topics: String = "") throws -> Site {
        let port = try Int(BrokerPorts.freePort())
        let workplace = try ProgramWorkplace(name, topics: .nobody) { options in
            options.members = """
                "gateway": {"port": \(port), "publicKeys": "jwks.json", "verifiers": "verifiers"},
                """
        }
        try workplace.rewrite("worker.json") {
            $0.replacing(#""requests":"#, with: topics + #""requests":"#)
        }
        try workplace.done("create-topics", "--partitions", "3")
        try workplace.done("jwks", "--output", workplace.config + "/jwks.json")
        let digest = SHA256.hash(Array(Self.secret.utf8)).bytes.map { String(format: "%02x", $0) }.joined()
        try Data("backend \(digest)\n".utf8).write(to: URL(filePath: workplace.config + "/verifiers"))
        try Data((Self.secret + "\n").utf8).write(to: URL(filePath: workplace.folder + "/secret"))
        let worker = try workplace.start("run", "--instance", "one")
        try #require(worker.says("are assigned", seconds: 60), "\(worker.error)")
        let gateway = try workplace.start("gateway", "--instance", "g1")
        try #require(gateway.says("serves 127.0.0.1, port \(port)", seconds: 60), "\(gateway.error)")
        return Site(workplace: workplace, port: port, worker: worker, gateway: gateway)
    }

    private func clients(_ site: Site, devices: Int, records: Int) throws -> ProgramProcess {
        try site.workplace.start(
            "simulate",
            [
                "--live", "--via", site.url, "--devices", String(devices), "--records", String(records),
                "--verifier-secret", site.workplace.folder + "/secret",
            ]
        )
    }

    @Test(arguments: [false, true])
    func `stock clients get artifacts, tokens and verdicts of their own`(hasReplies: Bool) throws {
        let name = hasReplies ? "gatewayreplies" : "gateway"
        let site = try site(name, topics: hasReplies ? #""replies": "\#(name).replies", "# : "")
        let clients = try clients(site, devices: 20, records: 400)
        let end = try #require(clients.waitForEnd(seconds: 120), "\(clients.error)")
        #expect(end == .exit(0), "\(clients.output) \(clients.error)")
        #expect(clients.output.contains("answers: 400 with 200"), "\(clients.output)")
        #expect(clients.output.contains("0 answers of another call"), "\(clients.output)")
        // Challenges are made by the gateway: they are on no topic.
        let paths = try site.workplace.records(of: site.workplace.requests).compactMap { record in
            try? JSONDocument(parsing: record.value ?? []).root["path"]?.string
        }
        #expect(!paths.isEmpty && !paths.contains { $0.hasSuffix("generateAppAttestChallenge") })
        site.gateway.signal(SIGTERM)
        #expect(site.gateway.waitForEnd(seconds: 30) == .exit(0), "\(site.gateway.error)")
        #expect(site.gateway.error.contains("0 of them too late"), "\(site.gateway.error)")
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func `firebase_admin verifies and uses a token up: false, then true`() throws {
        let site = try site("gatewayadmin")
        let clients = try clients(site, devices: 2, records: 6)
        #expect(clients.waitForEnd(seconds: 60) == .exit(0), "\(clients.error)")
        // A session token, which no backend has used up.
        let answers = try site.workplace.records(of: site.workplace.topic("tokens")).compactMap { record in
            try? JSONDocument(parsing: record.value ?? []).root["appCheckToken"]?["token"]?.string
        }
        let token = try #require(answers.first)
        let script = URL(filePath: PythonLab.script).deletingLastPathComponent().appending(path: "consume_token.py")
        func uses(_ secret: String, _ count: Int) throws -> String {
            let file = site.workplace.folder + "/token"
            try Data(token.utf8).write(to: URL(filePath: file))
            let run = PythonLab.run([
                "sh", "-c", #""$0" "$1" "$2" lab-project "$3" "$4" < "$5""#, try #require(PythonLab.python),
                script.path(), site.url, secret, String(count), file,
            ])
            try #require(run.code == 0, "\(run.error)")
            return String(decoding: run.output, as: UTF8.self)
        }
        #expect(try uses(Self.secret, 2) == "False\nTrue\n")
        #expect(try uses(Self.secret, 1) == "True\n")
        let refused = try uses("another secret", 1)
        #expect(refused.hasPrefix("UnauthenticatedError"), "\(refused)")
    }

    @Test func `a gateway that is killed loses no client: all end with one key and their own tokens`() throws {
        var site = try site("gatewaykilled")
        let clients = try clients(site, devices: 30, records: 1_500)
        for _ in 0..<3 {
            sleep(2)
            site.gateway.signal(SIGKILL)
            _ = site.gateway.waitForEnd(seconds: 10)
            site.gateway = try site.workplace.start("gateway", "--instance", "g1")
            try #require(site.gateway.says("serves 127.0.0.1", seconds: 60), "\(site.gateway.error)")
        }
        let end = try #require(clients.waitForEnd(seconds: 240), "\(clients.error)")
        #expect(end == .exit(0), "\(clients.output) \(clients.error)")
        #expect(clients.output.contains("0 answers of another call"), "\(clients.output)")
        site.worker.signal(SIGTERM)
        #expect(site.worker.waitForEnd(seconds: 30) == .exit(0))
        // Every accepted assertion moved its key's counter on.
        var counters: [String: Int64] = [:]
        for record in try site.workplace.records(of: site.workplace.topic("results")) {
            let root = try JSONDocument(parsing: record.value ?? []).root
            guard root["verdict"]?.string == "accepted", root["duplicate"] == nil, let key = root["keyId"]?.string,
                let counter = root["evidence"]?["counter"]?.integer, counter > 0
            else { continue }
            #expect(counter > counters[key] ?? 0, "\(key)")
            counters[key] = counter
        }
        #expect(counters.count >= 30)
    }
}
