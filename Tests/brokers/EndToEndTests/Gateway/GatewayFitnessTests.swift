import BrokerKit
import ChaosKit
import Foundation
import TestKit
import Testing

/// A gateway as a process whose broker goes and comes back.
@Suite("A gateway without its broker", .brokerTests, .cluster(), .serialized)
struct GatewayFitnessTests {
    private static let path =
        "/v1/projects/lab-project/apps/1:123456789012:ios:0123456789abcdef:generateAppAttestChallenge"

    /// The status of a call, and the seconds that it took.
    private static func ask(_ url: String, post: Bool = false) throws -> (status: Int, seconds: Double) {
        let format = ["-w", "%{http_code} %{time_total}", "-o", "/dev/null"]
        let run = PythonLab.run(["curl", "-s", "--max-time", "20"] + format + (post ? ["-X", "POST"] : []) + [url])
        let words = String(decoding: run.output, as: UTF8.self).split(separator: " ")
        return (Int(words.first ?? "") ?? 0, Double(words.last ?? "") ?? 0)
    }

    @Test(arguments: [false, true])
    func `it is not ready within 3 s, refuses calls at once, and is ready again when the broker is back`(
        isPaused: Bool
    ) throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let metrics = try Int(BrokerPorts.freePort())
        let site = try GatewaySite(
            isPaused ? "gatewaypaused" : "gatewaylost",
            members: #""metrics": {"port": \#(metrics)}, "#
        )
        let ready = "http://127.0.0.1:\(metrics)/readyz"
        func status(_ url: String, post: Bool = false) throws -> Int { try Self.ask(url, post: post).status }
        #expect(try Deadline.wait(5) { try status(ready) == 200 })
        #expect(try status(site.url + Self.path, post: true) == 200)
        if isPaused { try cluster.pause(1) } else { try cluster.kill(1) }
        #expect(try Deadline.wait(3) { try status(ready) == 503 }, "\(site.gateway.error)")
        let refused = try Self.ask(site.url + Self.path, post: true)
        #expect(refused.status == 503 && Deadline.isWithin(.seconds(1), .seconds(refused.seconds)))
        #expect(try status(site.url + "/v1/jwks") == 200)
        #expect(site.gateway.says("no broker answers"))
        if isPaused { try cluster.resume(1) } else { try cluster.start(1) }
        #expect(try Deadline.wait(30) { try status(ready) == 200 }, "\(site.gateway.error)")
        #expect(try status(site.url + Self.path, post: true) == 200)
        let clients = try site.clients(devices: 2, records: 8)
        #expect(clients.waitForEnd(seconds: 60) == .exit(0), "\(clients.error)")
    }
}
