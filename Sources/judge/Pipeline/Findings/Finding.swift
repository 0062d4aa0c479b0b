package import AppAttest
package import AppCheck
internal import Crypto

/// The outcome of verification for a record, before the state is asked.
package enum Finding: Sendable {
    /// Refused or dead before verification, or without anything to verify.
    case shapeOnly
    /// Too old or too new to be verified.
    case outOfTime(Reason)
    /// Indirect, since it is three times as large as most findings.
    indirect case attestation(Result<AttestationEvidence, Refusal>)
    case assertion(Result<AssertionEvidence, Refusal>)
    /// An assertion whose key is unknown; its object was read all the same.
    case withoutKey(Refusal?)
    /// An exchange: the findings about its object, and about the challenge and artifact of the worker.
    indirect case exchange(Finding, Seals)
    /// verifyAppCheckToken.
    case token(Result<TokenClaims, TokenFault>)
    /// verifyReceipt.
    indirect case receipt(Result<ReceiptEvidence, Refusal>)

    /// Joins an exchange's finding with its seals; any other request has none.
    init(_ object: Finding, _ seals: Seals?) { self = seals.map { .exchange(object, $0) } ?? object }

    /// The device's object alone.
    package var object: Finding {
        if case .exchange(let object, _) = self { return object }
        return self
    }

    /// Why a token is `token-invalid`: what Verify found, else what Admit did, which judges the life of a genuine token.
    var tokenFault: TokenFault {
        switch self {
        case .token(.failure(let fault)): fault
        case .token(.success(let claims)): claims.isLimitedUse || claims.times.isSession ? .expired : .claims
        default: .malformed
        }
    }

    package var seals: Seals? {
        if case .exchange(_, let seals) = self { return seals }
        return nil
    }
}

/// The worker's own challenge and artifact in an exchange. Shared by the stages, as its request is.
package final class Seals: Sendable {
    /// The time at which the challenge was issued, if it is genuine; nil where the gateway judges challenges.
    package let challenge: Result<EvaluationTime, Reason>?
    /// nil for an attestation, which has none.
    package let artifact: Result<Artifact, Reason>?

    package init(challenge: Result<EvaluationTime, Reason>? = nil, artifact: Result<Artifact, Reason>? = nil) {
        (self.challenge, self.artifact) = (challenge, artifact)
    }

    /// Whether one of them is not ours: Admit refuses such a request before it looks at the object, so the object is
    /// not verified.
    var refuse: Bool {
        if case .failure? = challenge { return true }
        if case .failure? = artifact { return true }
        return false
    }
}

/// A verification whose signature is open, and where its record stands in the grain. An enum, so that it moves through a
/// round: a member that is taken out of a struct is copied.
enum UnfinishedVerification {
    case attestation(Prepared<AttestationEvidence>, place: Int, Seals?)
    case assertion(Prepared<AssertionEvidence>, place: Int, Seals?)
    case receipt(Prepared<ReceiptEvidence>, place: Int)

    var place: Int {
        switch self {
        case .attestation(_, let place, _), .assertion(_, let place, _), .receipt(_, let place): place
        }
    }

    /// nil = the next step needs no signature's answer.
    var check: SignatureCheck? {
        switch self {
        case .attestation(let prepared, _, _): prepared.check
        case .assertion(let prepared, _, _): prepared.check
        case .receipt(let prepared, _): prepared.check
        }
    }

    /// Whether there is a check, without a copy of it.
    var hasCheck: Bool {
        switch self {
        case .attestation(let prepared, _, _): prepared.check != nil
        case .assertion(let prepared, _, _): prepared.check != nil
        case .receipt(let prepared, _): prepared.check != nil
        }
    }
}
