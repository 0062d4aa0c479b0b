internal import Crypto
internal import Foundation
internal import TestKit
package import Testing

/// A worker and a gateway as processes, on the suite's broker.
package struct GatewaySite {
    package static let secret = "the-backends-own-secret"

    package let workplace: ProgramWorkplace
    package let port: Int
    package let worker: ProgramProcess
    package var gateway: ProgramProcess

    package var url: String { "http://127.0.0.1:\(port)" }

    /// - Parameters:
    ///   - topics: more members of worker.json's topics, each followed by a comma.
    ///   - members: more of its gateway, likewise.
    ///   - kafka: more of kafka.properties.
    package init(
        _ name: String,
        topics: String = "",
        members: String = "",
        kafka: [(name: String, value: String)] = []
    ) throws {
        port = try Int(BrokerPorts.freePort())
        let settings =
            #""gateway": {\#(members)"port": \#(port), "publicKeys": "jwks.json", "verifiers": "verifiers"},"#
        workplace = try ProgramWorkplace(name) { ($0.members, $0.topicMembers, $0.kafka) = (settings, topics, kafka) }
        try workplace.writeGatewayFiles()
        try workplace.write(Self.secret + "\n", to: "secret")
        worker = try workplace.start("run", "--instance", "one")
        guard worker.says("are assigned", seconds: 60) else { throw ClusterFault(description: worker.error) }
        gateway = try workplace.start("gateway", "--instance", "g1")
        guard gateway.says("serves 127.0.0.1, port \(port)", seconds: 60) else {
            throw ClusterFault(description: gateway.error)
        }
    }

    /// Lets stock clients live on the gateway's answers until they are done, and none may get another's.
    ///
    /// - Parameters:
    ///   - via: nil = the gateway itself.
    ///   - seed: of the devices; those of one seed come once.
    @discardableResult
    package func serve(
        devices: Int,
        records: Int,
        via: String? = nil,
        seed: Int = 1,
        location: SourceLocation = #_sourceLocation
    ) throws -> ProgramProcess {
        let clients = try workplace.start(
            "simulate",
            [
                "--live", "--via", via ?? url, "--devices", String(devices), "--records", String(records),
                "--seed", String(seed), "--verifier-secret", workplace.file("secret"),
            ]
        )
        let isServed = clients.waitForEnd(seconds: 120) == .exit(0)
        let isOwn = clients.output.contains(" no response went to another caller")
        #expect(isServed && isOwn, "\(clients.output) \(clients.error)", sourceLocation: location)
        return clients
    }
}

extension ProgramWorkplace {
    /// Writes a gateway's public keys, and the digest of the one backend that uses tokens up.
    package func writeGatewayFiles() throws {
        try done("jwks", "--output", config + "/jwks.json")
        let digest = SHA256.hash(Array(GatewaySite.secret.utf8)).bytes.map { String(format: "%02x", $0) }.joined()
        try write("backend \(digest)\n", to: "config/verifiers")
    }
}
