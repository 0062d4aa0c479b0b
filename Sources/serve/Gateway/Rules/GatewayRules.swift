internal import AppAttest
package import AppCheck
internal import JSON
internal import Pipeline
package import Settings

/// The rules by which a gateway judges calls: immutable, replaced as a whole by a reload.
package final class GatewayRules: Sendable {
    let registry: Registry
    let decoder: RequestDecoder
    let limits: RequestLimits
    let settings: GatewaySettings
    /// nil = no challenge can be made now.
    let challengeKey: ChallengeKey?
    let challengeTTL: Int64
    let verifiers: Verifiers
    /// The key set as it is served; nil = none is.
    let keySet: [UInt8]?
    let tokens: TokenVerifier?
    /// The bundle identifiers of each app.
    private let bundles: [Set<ExactText>]
    /// Signing keys that worker.json lists as revoked.
    let revokedKeys: Set<ExactText>
    let hasSeveralProjects: Bool
    /// Names that tokens of more than one project may have in `sub`.
    let sharedSubjects: Set<[UInt8]>

    /// - Parameters:
    ///   - challenges: the ring whose first key seals.
    ///   - keySet: the file's bytes and what they hold; nil = no file is named.
    package init(
        _ configuration: Configuration,
        challenges: ChallengeKeyRing,
        verifiers: Verifiers,
        keySet: (bytes: [UInt8], keys: VerificationKeys)?
    ) {
        registry = configuration.registry
        limits = configuration.limits
        settings = configuration.gateway
        // Without operators' keys every command of theirs is refused.
        decoder = RequestDecoder(registry: registry, limits: limits)
        challengeKey = challenges.active
        challengeTTL = configuration.challenges.ttlMilliseconds
        self.verifiers = verifiers
        self.keySet = keySet?.bytes
        tokens = (keySet?.keys).map { TokenVerifier(publicKeys: $0) }
        hasSeveralProjects = registry.hasSeveralProjects
        sharedSubjects = Self.sharedSubjects(registry)
        bundles = registry.apps.map { app in
            Set(app.expectations.appIDs.compactMap(Self.bundle) + app.bundleIDs.map { ExactText($0) })
        }
        revokedKeys = Set(configuration.signingKeys.filter { $0.state == .revoked }.map { ExactText($0.kid) })
    }

    /// An App ID is a prefix, a dot, and the bundle identifier.
    private static func bundle(_ id: AppID) -> ExactText? {
        id.text.firstIndex(of: ".").map { ExactText(String(id.text[$0...].dropFirst())) }
    }

    private static func sharedSubjects(_ registry: Registry) -> Set<[UInt8]> {
        var projects: [[UInt8]: Set<String>] = [:]
        for app in registry.apps {
            for subject in [app.appID] + app.oauthClientIDs {
                projects[Array(subject.utf8), default: []].insert(app.projectNumber)
            }
        }
        return Set(projects.filter { $0.value.count > 1 }.keys)
    }

    /// The bundle that a header names; nil for one that is not the app's.
    func bundle(_ text: [UInt8], ofApp index: Int) -> OwnBundle? {
        guard let bundle = ExactText(validating: text), bundles[index].contains(bundle) else { return nil }
        return OwnBundle(app: registry.apps[index].appID, name: bundle.shown)
    }
}

/// A bundle that an app's callers may name.
package struct OwnBundle: Hashable, Sendable {
    /// The app's ID.
    package let app: String
    package let name: String
}
