internal import AppCheck
internal import Pipeline
internal import Settings
internal import Traffic

extension ExchangeSeals {
    /// - Throws: a fault that names a key which the verbs need and worker.json does not give.
    init(_ configuration: Configuration, verbs: Set<Verb>, apps: [SimulatedApp]) throws {
        let rings = try ExchangeKeys.load(configuration).rings
        let isSealed = configuration.challenges.mode == .sealed
        if verbs.contains(.generateAppAttestChallenge), !isSealed {
            throw UsageFault(
                "--verbs: challenges.mode is external: the gateway makes challenges, so leave out "
                    + "\(Verb.generateAppAttestChallenge.rawValue)."
            )
        }
        if isSealed, rings.challenges.active == nil { throw Self.missing("challenge key") }
        if verbs.contains(.exchangeAppAttestAssertion), rings.sealing.active == nil {
            throw Self.missing("sealing key")
        }
        if verbs.contains(.verifyAppCheckToken) {
            for app in apps where rings.tokens.active(app.registered.tokens.algorithm) == nil {
                throw Self.missing("active \(app.registered.tokens.algorithm.rawValue) signing key")
            }
        }
        self.init(rings, sealsChallenges: isSealed)
    }

    private static func missing(_ key: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: has no \(key), which the verbs need: \(AttestWorker.name) new-keys makes one.")
    }
}
