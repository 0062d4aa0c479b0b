import BrokerKit
import ChaosKit
import Testing

/// A gateway as a process whose broker goes and comes back.
@Suite("A gateway without its broker", .brokerTests, .cluster(), .serialized)
struct GatewayFitnessTests {
    private static let path =
        "/v1/projects/lab-project/apps/1:123456789012:ios:0123456789abcdef:generateAppAttestChallenge"

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
        let challenge = ["-X", "POST", site.url + Self.path]
        #expect(Deadline.wait(5) { Curl.call(ready).status == 200 })
        #expect(Curl.call(challenge).status == 200)
        if isPaused { try cluster.pause(1) } else { try cluster.kill(1) }
        #expect(Deadline.wait(3) { Curl.call(ready).status == 503 }, "\(site.gateway.error)")
        let refused = Curl.call(challenge)
        #expect(refused.status == 503 && Deadline.isWithin(.seconds(1), .seconds(refused.seconds)))
        #expect(Curl.call(site.url + "/v1/jwks").status == 200)
        #expect(site.gateway.says("no broker answers"))
        if isPaused { try cluster.resume(1) } else { try cluster.start(1) }
        #expect(Deadline.wait(30) { Curl.call(ready).status == 200 }, "\(site.gateway.error)")
        #expect(Curl.call(challenge).status == 200)
        try site.serve(devices: 2, records: 8)
    }
}
