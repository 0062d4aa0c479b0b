/// All keys of the exchange, as one value.
package struct KeyRings: Sendable {
    package var tokens: TokenKeyRing
    package var sealing: SealingKeyRing
    package var challenges: ChallengeKeyRing

    package init(
        tokens: TokenKeyRing = TokenKeyRing(),
        sealing: SealingKeyRing = SealingKeyRing(),
        challenges: ChallengeKeyRing = ChallengeKeyRing()
    ) {
        (self.tokens, self.sealing, self.challenges) = (tokens, sealing, challenges)
    }
}
