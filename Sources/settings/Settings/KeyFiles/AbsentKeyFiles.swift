/// The effect of a missing key file.
package enum AbsentKeys: Sendable {
    /// The program does not start.
    case refused
    /// A worker goes on without a key whose token does not answer.
    case silent
    /// A rotation goes on without a key whose token is away.
    case away
    /// A replay that mints nothing goes on without it: requests that need the key are deferred.
    case tolerated
}

/// The keys whose files are missing, or unreadable for this user.
struct AbsentKeyFiles {
    /// The absent keys by `kid`, respectively id, as configured.
    private(set) var signing: [String] = []
    private(set) var sealing: [String] = []
    private(set) var challenges: [String] = []

    init() {}

    /// - Parameter configuration: the absent keys are removed from its lists.
    init(leaving configuration: inout Configuration, where isAbsent: (KeySource) -> Bool) {
        signing = configuration.signingKeys.filter { $0.state != .revoked && isAbsent($0.source) }.map(\.kid)
        sealing = configuration.sealingKeys.filter { isAbsent($0.source) }.map(\.id)
        challenges = configuration.challengeKeys.filter { isAbsent($0.source) }.map(\.id)
        configuration.signingKeys.removeAll { signing.contains($0.kid) }
        configuration.sealingKeys.removeAll { sealing.contains($0.id) }
        configuration.challengeKeys.removeAll { challenges.contains($0.id) }
    }

    /// `signing key k1` and so on.
    var names: [String] {
        signing.map { "signing key \($0.printable)" } + sealing.map { "sealing key \($0.printable)" }
            + challenges.map { "challenge key \($0.printable)" }
    }
}
