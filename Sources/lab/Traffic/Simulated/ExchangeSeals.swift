internal import AppAttest
package import AppCheck
internal import Crypto

/// The configuration's keys for fake devices: a capture made with them is complete in itself, as if a worker with these
/// keys had answered everything before.
package struct ExchangeSeals: Sendable {
    /// nil = the gateway makes the challenges.
    private let challengeKey: ChallengeKey?
    private let sealingKey: SealingKey?
    private let tokenKeys: [TokenSettings.Algorithm: TokenKey]

    /// - Parameters:
    ///   - rings: which hold every key that the simulated verbs need.
    ///   - sealsChallenges: false where the gateway makes the challenges.
    package init(_ rings: KeyRings, sealsChallenges: Bool) {
        challengeKey = sealsChallenges ? rings.challenges.active : nil
        sealingKey = rings.sealing.active
        var tokenKeys: [TokenSettings.Algorithm: TokenKey] = [:]
        for algorithm in TokenSettings.Algorithm.allCases { tokenKeys[algorithm] = rings.tokens.active(algorithm) }
        self.tokenKeys = tokenKeys
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
