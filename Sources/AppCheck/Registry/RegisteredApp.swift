package import AppAttest
package import Crypto

/// One app of apps.json: its names and what it accepts.
package struct RegisteredApp: Sendable {
    package var projectNumber: String { didSet { name = Self.name(projectNumber, appID) } }
    package var projectID: String?
    package var appID: String { didSet { name = Self.name(projectNumber, appID) } }
    /// `projects/{number}/apps/{appId}`: the name in ledger and KEYS files. Stored, since every record asks for it.
    package private(set) var name: String
    package var oauthClientIDs: [String]
    package var expectations: Expectations
    package var clientDataHash: ClientDataHashLength
    package var tokens: TokenSettings
    package var unknownKeys: UnknownKeyPolicy
    /// 0 = no limit.
    package var attestationsPerSecond: Int
    package var rollout: Rollout
    /// The keys that a gateway takes; nil = any, and none.
    package var apiKeys: Set<ExactText>?
    /// Secrets of simulators and CI jobs; none = the app has no exchangeDebugToken.
    package var debugTokens: [DebugToken] = []

    package init(
        projectNumber: String,
        projectID: String?,
        appID: String,
        oauthClientIDs: [String] = [],
        expectations: Expectations,
        clientDataHash: ClientDataHashLength = .standard,
        tokens: TokenSettings = TokenSettings(),
        unknownKeys: UnknownKeyPolicy = .restore,
        attestationsPerSecond: Int = 0,
        rollout: Rollout = Rollout()
    ) {
        self.projectNumber = projectNumber
        self.projectID = projectID
        self.appID = appID
        name = Self.name(projectNumber, appID)
        self.oauthClientIDs = oauthClientIDs
        self.expectations = expectations
        self.clientDataHash = clientDataHash
        self.tokens = tokens
        self.unknownKeys = unknownKeys
        self.attestationsPerSecond = attestationsPerSecond
        self.rollout = rollout
    }

    package func debugToken(_ hash: Digest?) -> DebugToken? {
        hash.flatMap { hash in debugTokens.first { $0.hash == hash } }
    }

    private static func name(_ projectNumber: String, _ appID: String) -> String {
        "projects/\(projectNumber)/apps/\(appID)"
    }
}

/// The policy on an artifact whose key the ledger has lost.
package enum UnknownKeyPolicy: String, Sendable, CaseIterable { case restore, refuse }
