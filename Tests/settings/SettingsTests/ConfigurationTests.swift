import AppAttest
import AppCheck
import Crypto
import Foundation
import Pipeline
import Settings
import Streams
import TestKit
import Testing

@Suite struct ConfigurationTests {
    /// Lists; ``ConfigurationPageTests`` compares the defaults of the other settings.
    @Test func `every list except the attestation anchors may be absent`() throws {
        let configuration = try ConfigurationDirectory(apps: "{}").load()
        #expect(configuration.registry.apps.isEmpty && configuration.kafkaProperties.isEmpty)
        #expect(configuration.signingKeys.isEmpty && configuration.sealingKeys.isEmpty)
        #expect(configuration.challengeKeys.isEmpty && configuration.risk.keys.isEmpty)
        #expect(configuration.anchors.attestation.map(\.pem) == [Array("attestation root".utf8)])
        #expect(configuration.anchors.receipt.isEmpty)
    }

    @Test(arguments: [("", nil), (#""replies":"p""#, "p")] as [(String, String?)])
    func `there is a topic of replies only where worker.json names one`(members: String, expected: String?) throws {
        let worker = ConfigurationDirectory.worker(#""topics":{\#(members)}"#)
        let configuration = try ConfigurationDirectory(worker: worker).load()
        #expect(configuration.topics.replies == expected)
        #expect(configuration.topics.all.count == (expected == nil ? 6 : 7) && configuration.topics.aligned.count == 6)
    }

    @Test func `every key of worker.json takes effect`() throws {
        let directory = try ConfigurationDirectory(worker: Self.whole)
        try directory.write("receipt.pem", [0xFF, 0x00])
        let configuration = try directory.load()
        #expect(configuration.topics.all == ["q", "r", "t", "e", "d", "l"])
        #expect(configuration.partitioner == .crc32)
        #expect(configuration.delivery == .atLeastOnce)
        #expect(configuration.membership == .dynamic)
        #expect(configuration.signingKeys.map(\.kid) == ["k1", "k2", "k3"])
        #expect(configuration.signingKeys.map(\.algorithm) == [.rs256, .es256, .rs256])
        #expect(configuration.signingKeys.map(\.state) == [.active, .active, .published])
        #expect(configuration.signingKeys[0].file == directory.path + "/keys/k1.pem")
        #expect(configuration.signingKeys[1].file == "/etc/k2.pem")
        #expect(configuration.sealingKeys.map(\.id) == ["s1", "s2"])
        #expect(configuration.challenges.mode == .external)
        #expect(configuration.challenges.ttlMilliseconds == 120_000)
        #expect(configuration.challengeKeys.map(\.file) == [directory.path + "/c1"])
        #expect(configuration.anchors.receipt.map(\.pem) == [[0xFF, 0x00]])
        #expect(configuration.clock.maxAgeMilliseconds == 172_800_000)
        #expect(configuration.clock.maxAheadMilliseconds == 1500)
        #expect(configuration.keys.expireAfterMilliseconds == 400 * 86_400_000)
        #expect(configuration.limits.valueBytes == 1000 && configuration.limits.headerBytes == 100)
        #expect(configuration.limits.clientDataBytes == 50 && configuration.limits.clientDataHashBytes == 32)
        #expect(configuration.limits.requestIDBytes == 64)
        #expect(configuration.batch == BatchLimits(records: 5, bytes: 6, milliseconds: 7))
        #expect(
            configuration.lanes == 3 && configuration.metricsPort == 9100 && configuration.metricsAddress == "::"
                && configuration.embeddedBroker
        )
        // In external mode an app refuses unknown keys unless it says otherwise.
        #expect(configuration.registry.apps[0].unknownKeys == .refuse)
    }

    private static let whole = #"""
        {"topics": {"requests": "q", "results": "r", "tokens": "t", "events": "e", "deadLetters": "d", "ledger": "l"},
         "partitioner": "crc32", "delivery": "at-least-once", "membership": "dynamic",
         "signingKeys": [{"kid": "k1", "algorithm": "RS256", "file": "keys/k1.pem", "state": "active"},
                         {"kid": "k2", "algorithm": "ES256", "file": "/etc/k2.pem"},
                         {"kid": "k3", "file": "k3.pem", "state": "published"}],
         "sealingKeys": [{"id": "s1", "file": "s1"}, {"id": "s2", "file": "s2"}],
         "challenges": {"mode": "external", "ttl": "2m", "keys": [{"id": "c1", "file": "c1"}]},
         "anchors": {"attestation": ["root.pem"], "receipt": ["receipt.pem"]},
         "clock": {"maxAge": "2d", "maxAhead": "1500ms"}, "keys": {"expireAfter": "400d"},
         "limits": {"valueBytes": 1000, "headerBytes": 100, "clientDataBytes": 50, "clientDataHashBytes": 32,
                    "requestIdBytes": 64},
         "batch": {"records": 5, "bytes": 6, "milliseconds": 7}, "lanes": 3, "engine": {},
         "metrics": {"port": 9100, "address": "::"}, "embeddedBroker": true}
        """#

    @Test func `every key of apps.json takes effect`() throws {
        let text = #"""
            {"projects": [{"number": "123456789012", "id": "contract-test-1", "apps": [{
              "appId": "1:123456789012:ios:0123456789abcdef", "name": "Shop (ベータ)", "oauthClientIds": ["c1", "c2"],
              "appleAppIds": ["ABCDE12345.com.example.app", "anything goes"],
              "environments": ["development", "production"],
              "tokenTtl": "7d", "tokenLeeway": "30s", "tokenAlgorithm": "ES256", "sharedSessionTokens": true,
              "categories": {"allow": [2, 4, 4294967295], "whenMissing": "refuse"},
              "bundleVersions": {"allow": ["1.0"], "whenMissing": "accept"}, "macOS": {"acl": "accept"},
              "extensions": {"trust": "any"}, "clientDataHash": {"bytes": 21}, "receipt": "ignore", "unknownKeys": "refuse", "attestationsPerSecond": 80,
              "rollout": {"mode": "shadow", "percent": 12.000001, "seed": "a-b_c.9",
                "always": ["ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffFF0a"],
                "never": ["000000000000000000000000000000000000000000000000000000000000000b"]}},
              {"appId": "second", "clientDataHash": {"bytes": "any"}, "extensions": {"trust": "flagged"}}]},
              {"number": "2"}]}
            """#
        let registry = try ConfigurationDirectory(apps: text).load().registry
        #expect(registry.apps.count == 2)
        let app = registry.apps[0]
        #expect(app.name == "projects/123456789012/apps/1:123456789012:ios:0123456789abcdef")
        #expect(app.title == "Shop (ベータ)" && app.label == "Shop (ベータ) (\(app.name))")
        #expect(registry.apps[1].title == "second" && registry.apps[1].label == registry.apps[1].name)
        #expect(registry.label(of: "oauthClients/c1") == app.label && registry.label(of: "projects/9") == "projects/9")
        #expect(app.projectID == "contract-test-1" && app.oauthClientIDs == ["c1", "c2"])
        #expect(app.expectations.appIDs.map(\.text) == ["ABCDE12345.com.example.app", "anything goes"])
        #expect(app.expectations.environments == [.development, .production])
        #expect(app.expectations.categories.allow == [2, 4, .max])
        #expect(app.expectations.categories.whenMissing == .refuse)
        #expect(app.expectations.bundleVersions.allow == ["1.0"])
        #expect(app.expectations.bundleVersions.whenMissing == .accept)
        #expect(app.expectations.macACL == .accept && app.expectations.receipt == .ignore)
        var tokens = TokenSettings(ttlMilliseconds: 604_800_000, algorithm: .es256, sharedSessionTokens: true)
        tokens.leewayMilliseconds = 30_000
        #expect(app.tokens == tokens)
        #expect(app.unknownKeys == .refuse && app.attestationsPerSecond == 80)
        let always = try #require(Digest([UInt8](repeating: 0xFF, count: 31) + [10]))
        let never = try #require(Digest([UInt8](repeating: 0, count: 31) + [11]))
        #expect(
            app.rollout
                == Rollout(mode: .shadow, parts: 12_000_001, seed: "a-b_c.9", always: [always], never: [never])
        )
        #expect(app.expectations.extensionTrust == .any && app.clientDataHash == .bytes(21))
        #expect(registry.apps[1].expectations.extensionTrust == .flagged && registry.apps[1].clientDataHash == .any)
        #expect(registry.find(oauthClient: "c2") == 0)
    }

    @Test func `an app without settings accepts both environments, and any category and bundle version`() throws {
        let app = try ConfigurationDirectory().load().registry.apps[0]
        #expect(app.expectations.environments == [.production, .development])
        #expect(app.expectations.categories.allow == nil && app.expectations.bundleVersions.allow == nil)
    }

    @Test func `the shipped configuration loads, and its anchors are Apple's`() throws {
        let configuration = try Configuration.load(directory: PackageFolder.url.appending(path: "Config").path)
        #expect(configuration.registry.apps.count == 1)
        func fingerprints(_ files: [AnchorSettings.File]) -> [String] {
            files.flatMap { CACertificate.readAny($0.pem) }.map { Hexadecimal.encode($0.digest.bytes) }
        }
        let (attestation, receipt) = (configuration.anchors.attestation, configuration.anchors.receipt)
        #expect(fingerprints(attestation) == ["1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932"])
        #expect(fingerprints(receipt) == ["63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"])
        let properties = Dictionary(uniqueKeysWithValues: configuration.kafkaProperties.map { ($0.name, $0.value) })
        #expect(properties["group.id"] == "attest-worker" && properties["session.timeout.ms"] == "10000")
        _ = try TrustAnchors(attestationPEM: attestation.map(\.pem), receiptPEM: receipt.map(\.pem))
    }
}
