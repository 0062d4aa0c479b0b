package import AppAttest
package import AppCheck

/// What verification found about a record, before the state is asked.
package enum Finding: Sendable {
    /// Refused or dead before verification, or nothing to verify.
    case shapeOnly
    /// Too old or too new to be verified.
    case outOfTime(Reason)
    /// Aside, for it is three times as large as what most findings hold.
    indirect case attestation(Result<AttestationEvidence, Refusal>)
    case assertion(Result<AssertionEvidence, Refusal>)
    /// An assertion whose key nobody knows; its object was read all the same.
    case withoutKey(Refusal?)
    /// An exchange: what was found about its object, and about what the worker had sealed.
    indirect case exchange(Finding, Seals)
    /// verifyAppCheckToken.
    case token(Result<TokenClaims, Reason>)

    /// The device's object alone.
    package var object: Finding {
        if case .exchange(let object, _) = self { return object }
        return self
    }

    package var seals: Seals? {
        if case .exchange(_, let seals) = self { return seals }
        return nil
    }
}

/// What an exchange brings back that the worker made.
package struct Seals: Sendable {
    /// When the challenge was issued, if it is genuine; nil where the gateway judges challenges.
    package var challenge: Result<EvaluationTime, Reason>?
    /// nil for an attestation, which has none.
    package var artifact: Result<Artifact, Reason>?

    package init(challenge: Result<EvaluationTime, Reason>? = nil, artifact: Result<Artifact, Reason>? = nil) {
        self.challenge = challenge
        self.artifact = artifact
    }

    /// Whether one of them is none of ours: Admit refuses such a request before it asks for the object, so that the object
    /// is not verified.
    var refuse: Bool {
        if case .failure? = challenge { return true }
        if case .failure? = artifact { return true }
        return false
    }
}
