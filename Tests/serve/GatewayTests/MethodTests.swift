import Gateway
import HTTP
import TestKit
import Testing

@Suite struct MethodTests {
    private static let app = "/v1/\(ExchangeKit.resource)"
    private static let read = [
        "/healthz", "/v1/jwks", "/v1beta/jwks", "/v1/verify", "/v1/verify?consume=1", "\(app):rollout",
    ]
    private static let posted =
        [
            "generateAppAttestChallenge", "exchangeAppAttestAttestation", "exchangeAppAttestAssertion",
            "exchangeDebugToken", "verifyAttestation", "verifyAssertion", "exchangeDeviceCheckToken",
        ].map { "\(app):\($0)" } + ["/v1beta/projects/\(ExchangeKit.projectID):verifyAppCheckToken"]

    private func allow(_ method: String, _ path: String) throws -> String? {
        let rig = try GatewayRig()
        let reply = try #require(rig.call(method, path).reply)
        #expect(rig.records.isEmpty)
        guard reply.status == 405 else { return nil }
        #expect(rig.gateway.counts.rejections == [.method: 1])
        return reply.headers.filter { $0.name == "Allow" }.map(\.value).joined(separator: "; ")
    }

    @Test(arguments: read, ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "G"])
    func `what is read is answered with GET and HEAD to other methods`(path: String, method: String) throws {
        #expect(try allow(method, path) == "GET, HEAD")
    }

    @Test(arguments: posted, ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "post"])
    func `what is posted is answered with POST to other methods`(path: String, method: String) throws {
        #expect(try allow(method, path) == "POST")
    }

    @Test(
        arguments: [
            "/", "/v1", "/v1/", "/v1/nothing", "/v1/verify:", "/v1beta/verify", "/v2/jwks", "/healthz/x", "/HEALTHZ",
            "\(app)", "\(app):nonsense", "\(app):", "\(app):generateAppAttestChallenge/",
            "/v1/organizations/1:generateAppAttestChallenge", "/v1/\(String(repeating: "a", count: 2_000)):rollback",
            "/v1/projects/\u{e4}:x",
        ],
        ["GET", "HEAD", "POST", "PUT"]
    )
    func `a path that no one has is unknown, whatever the method`(path: String, method: String) throws {
        let rig = try GatewayRig()
        #expect(rig.call(method, path, body: method == "POST" ? Array("no JSON".utf8) : []).reply?.status == 404)
        #expect(rig.gateway.counts.rejections == [.path: 1] && rig.records.isEmpty)
    }
}
