internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Gateway
internal import Kafka
internal import Pipeline
internal import Settings

/// A gateway that has everything a request may reach: an app with keys, a verifier, a trusted proxy, a key set.
enum HostileRules {
    static let secret = "s"
    static let apiKey = "k"
    static let debugToken = "5f9e2a0c-1d5b-4d0a-9c35-0a6d8e2b7f41"
    static let partitions: Int32 = 4
    /// Milliseconds since 1970, as the gateway's clock has it.
    static let now: Int64 = 1_795_000_000_000

    static func make() throws -> GatewayRules {
        let key = try TokenKey(kid: "k1", algorithm: .rs256, state: .active, key: .generate(.rsa))
        let set = try TokenKeyRing([key]).jsonWebKeySet
        let secrets = try SecretRing<ChallengeKey>([
            NamedSecret(id: "c1", secret: Secret([UInt8](repeating: 7, count: NamedSecret.byteCount)))
        ])
        let digest = SHA256.hash(Array(secret.utf8)).bytes
        let line = "backend " + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        var configuration = Configuration()
        configuration.registry = try registry()
        configuration.gateway.trustedProxies = [NetworkPrefix("127.0.0.0/8")].compactMap { $0 }
        // So that a call whose answer never comes is seen to end.
        configuration.gateway.deadlineMilliseconds = 100
        configuration.gateway.verifierHeader = "X-Client"
        configuration.gateway.verifierNames = ["backend"]
        return GatewayRules(
            configuration,
            challenges: secrets,
            verifiers: try Verifiers(Array(line.utf8)),
            keySet: (set, try VerificationKeys(jsonWebKeySet: set))
        )
    }

    private static func registry() throws -> Registry {
        let expectations = Expectations(appIDs: [AppID("ABCDE12345.com.example.app")])
        func app(_ id: String) -> RegisteredApp {
            RegisteredApp(projectNumber: "1", projectID: "p", appID: id, expectations: expectations)
        }
        var keyed = app("1:1:ios:b")
        let hash = SHA256.hash(Array(debugToken.utf8))
        keyed.debugTokens = [DebugToken(hash: hash, name: "d", until: EvaluationTime(milliseconds: now + 1))]
        keyed.apiKeys = [ExactText(apiKey)]
        keyed.oauthClientIDs = ["c.apps.example.com"]
        return try Registry(apps: [app("1:1:ios:a"), keyed])
    }

    static var topics: GatewayTopics {
        GatewayTopics(
            names: .standard,
            partitions: partitions,
            partitioner: .murmur2,
            replyTo: 0
        )
    }
}
