package import AppAttest
package import AppCheck

/// The answer to make for an accepted request of the exchange. A duplicate gets the first answer's times.
package enum MintOrder: Sendable {
    case challenge(at: EvaluationTime)
    /// `now` is when the answer is written: its `ttl` is the life left at that moment. Indirect, since it is several times
    /// as large as the others.
    indirect case attestation(Artifact, TokenTimes, now: EvaluationTime)
    case assertion(TokenTimes, now: EvaluationTime)
    case debugToken(TokenTimes, now: EvaluationTime)
    case verification(alreadyConsumed: Bool)
}
