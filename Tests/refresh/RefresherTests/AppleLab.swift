internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Risk
internal import Settings
internal import Testing

@testable internal import Lab

/// Apple's double over HTTP, whose clock stands; a device's receipt of an hour ago, and its team's key.
final class AppleLab {
    static let now = EvaluationTime(milliseconds: 1_791_806_400_000)
    static let createdAt = now.after(milliseconds: -Milliseconds.hour)
    static let appID = "ABCDE12345.com.example.app"
    static let device = FakeDevice(ca: ca, appID: appID, seed: 7)
    static let receipt = device.receipt(.attest, clientDataHash: SHA256.hash([1]).bytes, at: createdAt)
    private static let ca = LabCA(seed: 1)

    let server: LabAppleServer
    let key: ProviderKey

    /// - Parameter fault: of each answer.
    init(_ fault: String? = nil, drips: Int = 3) throws {
        let signing = try SigningKey.generate(.p256)
        key = try #require(ProviderKey(team: "ABCDE12345", kid: "K1", key: signing))
        let known = DeviceCheckKey(team: "ABCDE12345", kid: "K1", publicKey: signing.publicKey)
        var settings = LabApple.Settings(keys: [known])
        if let fault { (settings.faults, settings.faultShare) = ([try #require(AppleFault.named(fault))], 1) }
        server = try LabAppleServer(LabApple(Self.ca, settings), port: 0, drips: drips) { AppleLab.now }
    }

    /// Production's calls come here.
    var settings: RiskSettings {
        var settings = RiskSettings()
        settings.production = server.url
        return settings
    }

    static func verifier() throws -> ObjectVerifier { ObjectVerifier(anchors: try ca.anchors()) }
}
