internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Pipeline
internal import Settings

/// The configuration's keys for fake devices: a capture made with them is complete in itself, as if a worker with these
/// keys had answered everything before.
struct ExchangeSeals: Sendable {
    /// nil = the gateway makes the challenges.
    let challengeKey: ChallengeKey?
    private let sealingKey: SealingKey?
    private let tokenKeys: [TokenSettings.Algorithm: TokenKey]

    /// - Throws: a fault that names a key which the verbs need and worker.json does not give.
    init(_ configuration: Configuration, verbs: Set<Method>, apps: [SimulatedApp]) throws {
        let rings = try ExchangeKeys.load(configuration).rings
        let isSealed = configuration.challenges.mode == .sealed
        if verbs.contains(.generateAppAttestChallenge), !isSealed {
            throw UsageFault(
                "--verbs: challenges.mode is external: the gateway makes challenges, so leave out "
                    + "\(Method.generateAppAttestChallenge.rawValue)."
            )
        }
        if isSealed, rings.challenges.active == nil { throw Self.missing("challenge key") }
        if verbs.contains(.exchangeAppAttestAssertion), rings.sealing.active == nil {
            throw Self.missing("sealing key")
        }
        var tokenKeys: [TokenSettings.Algorithm: TokenKey] = [:]
        for algorithm in TokenSettings.Algorithm.allCases { tokenKeys[algorithm] = rings.tokens.active(algorithm) }
        if verbs.contains(.verifyAppCheckToken) {
            for app in apps where tokenKeys[app.registered.tokens.algorithm] == nil {
                throw Self.missing("active \(app.registered.tokens.algorithm.rawValue) signing key")
            }
        }
        challengeKey = isSealed ? rings.challenges.active : nil
        sealingKey = rings.sealing.active
        self.tokenKeys = tokenKeys
    }

    private static func missing(_ key: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: has no \(key), which the verbs need: \(AttestWorker.name) new-keys makes one.")
    }

    /// - Parameter random: 16 bytes.
    func challenge(app: String, issuedAt: EvaluationTime, random: [UInt8]) -> [UInt8] {
        // A gateway's own challenges may be any bytes.
        challengeKey?.seal(app: app, issuedAt: issuedAt, random: random) ?? SHA256.hash(random).bytes
    }

    func artifact(_ artifact: Artifact) -> [UInt8] {
        guard let sealingKey else { preconditionFailure("checked when the keys were loaded") }
        return sealingKey.seal(artifact)
    }

    /// - Returns: the JWT.
    func token(_ claims: TokenClaims, _ algorithm: TokenSettings.Algorithm) -> [UInt8] {
        guard let key = tokenKeys[algorithm] else { preconditionFailure("checked when the keys were loaded") }
        return TokenMinter.mint(claims, with: key)
    }
}
