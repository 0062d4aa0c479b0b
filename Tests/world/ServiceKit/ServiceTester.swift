internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import HTTP
internal import JSON
internal import SimulationKit
internal import TestKit

/// A developer's build on a machine without App Attest: it exchanges a debug token, and has no back-off.
final class ServiceTester {
    private static let app = ServiceFiles.App(id: "1:123456789012:ios:00000000000000de", appleIDs: ["ABCDE12345.debug"])

    /// The app of an apps.json; it is there from the start, and no operator changes it.
    static var entry: String {
        let hash = Hexadecimal.encode(SHA256.hash(Array(ExchangeKit.debugSecret.lowercased().utf8)).bytes)
        return
            #"{"appId":"\#(app.id)","appleAppIds":["\#(app.appleIDs[0])"],"tokenAlgorithm":"ES256","environments":["development"],"#
            + #""debugTokens":[{"sha256":"\#(hash)","name":"tester","until":"2099-01-01T00:00:00Z"}]}"#
    }

    let name: String
    private unowned let world: ServiceWorld
    private var asksAt: Int64 = 0
    private var isCalling = false

    init(_ name: String, _ world: ServiceWorld) { (self.name, self.world) = (name, world) }

    func move() {
        guard world.isChaotic, !isCalling, world.now >= asksAt else { return }
        isCalling = true
        var (body, order) = (StockBody(), SeededRandom(seed: 0))
        body.add("debug_token", text: Array(ExchangeKit.debugSecret.utf8))
        let path =
            "/v1/\(StockClient.resource(projectID: ServiceFiles.projectID, appID: Self.app.id)):exchangeDebugToken"
        let headers = [HTTPHeader("x-ios-bundle-identifier", "debug")]
        _ = world.call("POST", path, headers, body.bytes(using: &order)) { [weak self] in self?.take($0) }
    }

    private func take(_ reply: HTTPReply?) {
        (isCalling, asksAt) = (false, world.now + Int64(1_000 + world.dice(30_000)))
        guard let reply else { return }
        world.note(name, "gets \(reply.status)")
        if reply.status == 200, let token = try? JSONDocument(parsing: reply.body).root["token"]?.string {
            world.account.meet("debug tokens")
            world.backends.randomElement(using: &world.random)?.present(Array(token.utf8), by: name)
        } else if reply.status != 429, reply.status < 500 {
            world.complain("silenced: \(name), which has a debug token, gets \(reply.status)")
        }
    }
}
