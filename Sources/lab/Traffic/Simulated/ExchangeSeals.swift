internal import AppAttest
package import AppCheck
internal import Crypto

/// The configuration's keys for fake devices: a capture made with them is complete in itself, as if a worker with these
/// keys had answered everything before.
package struct ExchangeSeals: Sendable {
    private let rings: KeyRings
    private let sealsChallenges: Bool

    /// - Parameters:
    ///   - rings: which hold every key that the simulated verbs need.
    ///   - sealsChallenges: false where the gateway makes the challenges.
    package init(_ rings: KeyRings, sealsChallenges: Bool) {
        (self.rings, self.sealsChallenges) = (rings, sealsChallenges)
    }

    /// - Parameter random: 16 bytes.
    func challenge(app: String, issuedAt: EvaluationTime, random: [UInt8]) -> [UInt8] {
        // A gateway's own challenges may be any bytes.
        guard sealsChallenges, let key = rings.challenges.active else { return SHA256.hash(random).bytes }
        return key.seal(app: app, issuedAt: issuedAt, random: random)
    }

    func artifact(_ artifact: Artifact) -> [UInt8] {
        guard let key = rings.sealing.active else { preconditionFailure("checked when the keys were loaded") }
        return key.seal(artifact)
    }

    /// - Returns: the JWT.
    func token(_ claims: TokenClaims, _ algorithm: TokenSettings.Algorithm) -> [UInt8] {
        guard let key = rings.tokens.active(algorithm) else { preconditionFailure("checked when the keys were loaded") }
        return TokenMinter.mint(claims, with: key)
    }
}
