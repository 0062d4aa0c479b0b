import BrokerKit
import Foundation
import JSON
import Streams
import TestKit
import Testing

/// The gateway as a process, before a worker and a real broker, with stock clients over HTTP.
@Suite(
    "The gateway on a real broker",
    .brokerTests,
    .cluster(),
    .serialized
)
struct GatewayProgramTests {
    @Test(arguments: [false, true])
    func `stock clients get artifacts, tokens and verdicts of their own`(hasReplies: Bool) throws {
        let name = hasReplies ? "gatewayreplies" : "gateway"
        let site = try GatewaySite(name, topics: hasReplies ? #""replies": "\#(name).replies", "# : "")
        let clients = try site.serve(devices: 20, records: 400)
        #expect(clients.output.contains("answers: 400 with 200"), "\(clients.output)")
        // Challenges are made by the gateway: they are on no topic.
        let paths = try site.workplace.records(of: site.workplace.requests).compactMap { record in
            try? JSONDocument(parsing: record.value ?? []).root["path"]?.string
        }
        #expect(!paths.isEmpty && !paths.contains { $0.hasSuffix("generateAppAttestChallenge") })
        site.gateway.expectEnd()
        #expect(site.gateway.error.contains("0 of them too late"), "\(site.gateway.error)")
    }

    @Test func `a gateway that starts a moment before its topics are there serves; without them it ends and says why`()
        throws
    {
        let port = try Int(BrokerPorts.freePort())
        func bare(_ prefix: String) throws -> ProgramWorkplace {
            try ProgramWorkplace(prefix, topics: .nobody) { $0.members = #""gateway": {"port": \#(port)},"# }
        }
        // Meanwhile.
        let none = try bare("gatewaynone")
        let without = try none.start("gateway", "--instance", "g0")
        // Beside each other, as at a first deployment.
        let workplace = try bare("gatewayearly")
        let create = try workplace.start("create-topics", "--partitions", "3", "--replication", "1")
        let gateway = try workplace.start("gateway", "--instance", "g1")
        #expect(create.waitForEnd() == .exit(0), "\(create.error)")
        #expect(gateway.says("serves 127.0.0.1, port \(port): 3 partitions"), "\(gateway.error)")
        gateway.expectEnd()
        #expect(without.waitForEnd(seconds: 30) == .exit(1))
        #expect(without.error.contains("no such topic: gatewaynone.requests;"), "\(without.error)")
    }

    @Test(.enabled(if: PythonLab.python != nil, Comment(rawValue: PythonLab.whyMissing)))
    func `firebase_admin verifies and uses a token up: false, then true`() throws {
        let site = try GatewaySite("gatewayadmin")
        try site.serve(devices: 2, records: 6)
        // A session token, which no backend has used up.
        let token = try #require(try site.sessionTokens().first)
        let script = URL(filePath: PythonLab.script).deletingLastPathComponent().appending(path: "consume_token.py")
        func uses(_ secret: String, _ count: Int) throws -> String {
            try site.workplace.write(token, to: "token")
            let run = PythonLab.run([
                "sh", "-c", #""$0" "$1" "$2" lab-project "$3" "$4" < "$5""#, try #require(PythonLab.python),
                script.path(), site.url, secret, String(count), site.workplace.file("token"),
            ])
            try #require(run.code == 0, "\(run.error)")
            return String(decoding: run.output, as: UTF8.self)
        }
        #expect(try uses(GatewaySite.secret, 2) == "False\nTrue\n")
        #expect(try uses(GatewaySite.secret, 1) == "True\n")
        let refused = try uses("another secret", 1)
        #expect(refused.hasPrefix("UnauthenticatedError"), "\(refused)")
    }
}

extension GatewaySite {
    func sessionTokens() throws -> [String] {
        try workplace.records(of: workplace.topic("tokens")).compactMap { record in
            try? JSONDocument(parsing: record.value ?? []).root["appCheckToken"]?["token"]?.string
        }
    }
}
