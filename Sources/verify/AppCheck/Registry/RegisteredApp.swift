package import AppAttest
package import Crypto

/// One app of apps.json: its names and what it accepts.
package struct RegisteredApp: Sendable {
    /// How far a window of counters may reach.
    package static let counterWindows = 0...64

    package var projectNumber: String { didSet { name = Self.name(projectNumber, appID) } }
    package var projectID: String?
    package var appID: String { didSet { name = Self.name(projectNumber, appID) } }
    /// `projects/{number}/apps/{appId}`: the name in ledger and KEYS files. Stored, since every record asks for it.
    package private(set) var name: String
    /// What people call the app; nil = by its id. No metric has it.
    package var displayName: String?
    package var oauthClientIDs: [String]
    package var expectations: Expectations
    package var clientDataHash: ClientDataHashLength
    package var tokens: TokenSettings
    package var unknownKeys: UnknownKeyPolicy
    /// 0 = no limit.
    package var attestationsPerSecond: Int
    package var rollout: Rollout
    package var risk = RiskPolicy() { didSet { expectations.keepsReceipts = risk.keepsReceipts } }
    /// How far behind its key's highest counter an assertion with a skipped one is accepted, once; 0 = nowhere.
    package var counterWindow = 0
    /// Bundle identifiers of callers in addition to those of the Apple App IDs, such as an App Clip's.
    package var bundleIDs: [String] = []
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
        (self.oauthClientIDs, self.expectations, self.clientDataHash) = (oauthClientIDs, expectations, clientDataHash)
        (self.tokens, self.unknownKeys) = (tokens, unknownKeys)
        (self.attestationsPerSecond, self.rollout) = (attestationsPerSecond, rollout)
    }

    package func debugToken(_ hash: Digest?) -> DebugToken? {
        hash.flatMap { hash in debugTokens.first { $0.hash == hash } }
    }

    /// The app for people, where it stands alone.
    package var title: String { displayName ?? appID }
    /// The app for people, with the name by which other tools know it.
    package var label: String { displayName.map { "\($0) (\(name))" } ?? name }

    private static func name(_ projectNumber: String, _ appID: String) -> String {
        "projects/\(projectNumber)/apps/\(appID)"
    }
}

/// The policy on an artifact whose key the ledger has lost.
package enum UnknownKeyPolicy: String, Sendable, CaseIterable { case restore, refuse }

/// What becomes of the receipts of an app's attestations, which Apple exchanges for its fraud risk metric.
package struct RiskPolicy: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable { case off, report, refuse }

    package var mode = Mode.off
    /// A greater metric is marked, and refused where the mode says so.
    package var above: UInt16?

    package var keepsReceipts: Bool { mode != .off }

    /// The greatest metric whose key is served; nil = any.
    package var mostServed: UInt16? { mode == .refuse ? above : nil }

    /// Whether results and events mark this metric.
    package func marks(_ metric: UInt16) -> Bool {
        guard keepsReceipts, let above else { return false }
        return metric > above
    }
}

/// How many bytes the `clientDataHash` of verifyAttestation and verifyAssertion has.
///
/// Devices sign it after data that may end in an extension map: if any length were allowed, a sender could move the end
/// of the one into the other.
package enum ClientDataHashLength: Hashable, Sendable {
    case bytes(Int)
    case any

    /// SHA-256's, as Apple's guide has it.
    package static let standard = ClientDataHashLength.bytes(32)

    func allows(_ count: Int) -> Bool {
        switch self {
        case .bytes(let bytes): count == bytes
        case .any: count > 0
        }
    }
}

/// How an app's tokens are made.
package struct TokenSettings: Sendable, Equatable {
    package enum Algorithm: String, Sendable, CaseIterable { case rs256 = "RS256", es256 = "ES256" }
    /// The life of a token in milliseconds: 30 minutes to 7 days.
    package static let ttlRange: ClosedRange<Int64> = 1_800_000...604_800_000
    /// How much earlier than a token is minted it may begin, in milliseconds.
    package static let leewayRange: ClosedRange<Int64> = 0...30_000

    package var ttlMilliseconds: Int64
    /// How far `iat`, and `exp` with it, lie before the mint time, in milliseconds: for verifiers whose clocks run behind.
    package var leewayMilliseconds: Int64 = 0
    package var algorithm: Algorithm
    package var sharedSessionTokens: Bool
    package var sessionTokens: SessionTokenPolicy

    /// Whether verifyAppCheckToken uses up a session token. One that many devices share belongs to none of them.
    package var consumesSessionTokens: Bool { sessionTokens == .accept && !sharedSessionTokens }

    package init(
        ttlMilliseconds: Int64 = 3_600_000,
        algorithm: Algorithm = .rs256,
        sharedSessionTokens: Bool = false,
        sessionTokens: SessionTokenPolicy = .accept
    ) {
        (self.ttlMilliseconds, self.algorithm) = (ttlMilliseconds, algorithm)
        (self.sharedSessionTokens, self.sessionTokens) = (sharedSessionTokens, sessionTokens)
    }
}

/// The policy of verifyAppCheckToken on session tokens, which live for up to seven days.
package enum SessionTokenPolicy: String, Sendable, CaseIterable { case accept, refuse }

/// The share of an app's devices that may attest.
package struct Rollout: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable { case off, shadow, on }
    /// A percentage has at most six decimal places: 10 % are 10,000,000 parts of 100,000,000.
    package static let whole: Int64 = 100_000_000

    package var mode: Mode
    /// Parts of ``whole``.
    package var parts: Int64
    package var seed: String
    /// SHA-256 of the ids of test devices that are inside whatever the share, and of those that are outside.
    package var always: Set<Digest>
    package var never: Set<Digest>

    package init(
        mode: Mode = .off,
        parts: Int64 = 0,
        seed: String = "",
        always: Set<Digest> = [],
        never: Set<Digest> = []
    ) {
        (self.mode, self.parts, self.seed) = (mode, parts, seed)
        (self.always, self.never) = (always, never)
    }
}
