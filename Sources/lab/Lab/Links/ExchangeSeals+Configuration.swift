package import AppCheck
internal import CommandFrame
internal import Crypto
internal import Pipeline
package import Settings
package import Traffic

extension ExchangeSeals {
    /// - Throws: a fault that names a key which the verbs need and worker.json does not give.
    package init(_ configuration: Configuration, verbs: Set<Verb>, apps: [SimulatedApp]) throws {
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
            // Of the others nothing is certain while the load is made.
            let here = rings.tokens.keys.filter { $0.state == .active && $0.key.held == nil }.map(\.algorithm)
            for app in apps where !here.contains(app.registered.tokens.algorithm) {
                throw Self.missing("active \(app.registered.tokens.algorithm.rawValue) signing key with a file")
            }
        }
        self.init(rings, sealsChallenges: isSealed)
    }

    private static func missing(_ key: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: has no \(key), which the verbs need: \(AttestWorker.name) new-keys makes one.")
    }
}
