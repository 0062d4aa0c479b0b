import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import TestKit
import Testing

/// An app of the registry may list several Apple App IDs; a key belongs to the one that it was attested for.
@Suite struct KeyAppIDTests {
    private static let otherAppID = "ABCDE12345.com.example.other"

    private static func rig() throws -> ExchangeRig {
        let settings = try ExchangeKit.settings {
            $0.expectations.appIDs = [AppID(ExchangeKit.appleAppID), AppID(otherAppID)]
        }
        return try ExchangeRig(settings)
    }

    /// The same key, as if it signed for another app.
    private static func device(_ appID: String) -> FakeDevice { FakeDevice(ca: ExchangeKit.ca, appID: appID, seed: 3) }

    @Test func `an assertion for another Apple App ID is refused and changes nothing, with both verbs`() throws {
        let rig = try Self.rig()
        var (own, other) = (Self.device(ExchangeKit.appleAppID), Self.device(Self.otherAppID))
        #expect(own.keyID == other.keyID)
        let artifact = try rig.register(own)
        let foreign = try rig.refresh(&other, artifact)
        #expect(foreign.summary == "app-id-mismatch" && foreign.code == 403 && foreign.token == nil)
        #expect(try rig.send(.verifyAssertion(of: other, counter: 5)).summary == "app-id-mismatch")
        #expect(rig.key(own)?.counter == 0)
        #expect(try rig.refresh(&own, artifact).summary == "accepted")
        #expect(try rig.send(.verifyAssertion(of: own, counter: 5)).summary == "accepted")
        #expect(rig.key(own)?.counter == 5)
    }

    @Test func `a key restored from an artifact keeps its Apple App ID`() throws {
        let rig = try Self.rig()
        var (own, other) = (Self.device(ExchangeKit.appleAppID), Self.device(Self.otherAppID))
        let artifact = try rig.register(own)
        // The ledger is lost, the artifact is not.
        let fresh = try Self.rig()
        #expect(try fresh.refresh(&other, artifact).summary == "app-id-mismatch")
        #expect(fresh.key(own) == nil)
        #expect(try fresh.refresh(&own, artifact).summary == "accepted")
    }
}
