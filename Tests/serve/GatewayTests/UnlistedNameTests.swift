import AppAttest
import AppCheck
import DeviceLab
import Gateway
import HTTP
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite("A name that no file lists")
struct UnlistedNameTests {
    static let unlisted = [
        "projects/contract-test-1/apps/1:123456789012:ios:00000000",
        "projects/123456789012/apps/1:123456789012:ios:00000000",
        "projects/not-known-yet/apps/1:123456789012:ios:00000000", "projects/not-known-yet/apps/\(ExchangeKit.appID)",
        "oauthClients/123456789012-abc123.apps.googleusercontent.com",
        "oauthClients/999-abc123.apps.googleusercontent.com", "projects/another/apps/1:999:ios:00000000",
        "projects/999/apps/1:999:ios:00000000", "projects/contract-test-1/apps/1:123456789012:android:00000000",
        "projects/lab/apps/none", "oauthClients/none",
        "projects/contract-test-1/apps/1%253A123456789012%253Aios%253A00",
    ]

    /// The files of apps that a gateway may have been given: its own, none, and another environment's.
    static let files: [@Sendable () throws -> Registry] = [
        { try ExchangeKit.registry() }, { try Registry(apps: []) },
        {
            let other = RegisteredApp(
                projectNumber: "777",
                projectID: "staging",
                appID: "1:777:ios:00",
                expectations: Expectations(appIDs: [])
            )
            return try Registry(apps: [other])
        },
    ]

    @Test(arguments: Array(files.indices), unlisted)
    func `a name that no file lists may come later, whatever its form and its project`(
        file: Int,
        resource: String
    ) throws {
        let rig = try GatewayRig()
        rig.gateway.replace(try GatewayRig.rules(Self.files[file](), challenges: [2]))
        for verb in ["generateAppAttestChallenge", "exchangeAppAttestAttestation", "exchangeDebugToken"] {
            #expect(rig.call("POST", "/v1/\(resource):\(verb)", body: Array("{}".utf8)).reply?.status == 503)
        }
        #expect(rig.call("GET", "/v1/\(resource):rollout", [("x-installation-id", "i")]).reply?.status == 503)
        #expect(rig.gateway.counts.rejections[.app] == 4)
        let unknown = try #require(rig.gateway.takeUnknown().app)
        #expect(unknown.count == 4)
        #expect(unknown.name.shown == resource.replacing("%253A", with: "%3A"))
    }

    static let gone = [
        ("projects/1/apps/1:1:ios:0a", "projects/1/apps/1:1:ios:0a"),
        // By the ID of a project that is not listed any more.
        ("projects/one/apps/1:1:ios:0a", "projects/1/apps/1:1:ios:0a"),
        ("projects/contract-test-1/apps/own", "projects/123456789012/apps/own"),
        ("projects/123456789012/apps/own", "projects/123456789012/apps/own"), ("oauthClients/c", "oauthClients/c"),
    ]

    @Test(arguments: gone, [true, false])
    func `a retired name gets 404, also where nothing else is listed`(name: (String, String), hasApps: Bool) throws {
        let rig = try GatewayRig()
        let apps = hasApps ? try ExchangeKit.registry().apps : []
        let registry = try Registry(apps: apps, retired: [ExactText(name.1)])
        rig.gateway.replace(try GatewayRig.rules(registry, challenges: [2]))
        let isKnown = hasApps || !name.0.contains("contract-test-1")
        let status = rig.call("POST", "/v1/\(name.0):generateAppAttestChallenge").reply?.status
        #expect(status == (isKnown ? 404 : 503))
        #expect(rig.gateway.unfitness == nil, "a service that has ended is as it must be")
    }
}
