package import AppAttest
package import AppCheck

/// A record's verdict, after the state was asked.
package struct Verdict: Sendable {
    package enum Outcome: Sendable {
        case accepted
        case refused(Reason, Status)
        /// The same request may be accepted later.
        case deferred(Reason, Status)
        case deadLetter(DeadLetterReason)
        /// Answered before: at-least-once delivery has brought it once more, and nothing is said or done.
        case applied
    }

    /// What the ledger keeps of the key of a duplicate, whose object may be past verifying.
    package struct Kept: Sendable {
        package let appleAppID: String
        package let counter: UInt32
    }

    package var outcome: Outcome
    /// The environment in which the key stands in the ledger; nil = it stands in none.
    package var environment: Environment?
    /// The counter before an assertion; a duplicate has none, nothing moved.
    package var previousCounter: UInt32?
    package var duplicate: Kept?
    /// What an accepted request of the exchange gets.
    package var order: MintOrder?
    /// Whether the device's share of the rollout was asked, and what it said.
    package var rollout: RolloutDecision?
    /// The ledger had lost the key, and an artifact brought it back.
    package var isRestored = false
    /// The ledger has no usable key, so that the assertion counts as not verified, whatever a key beside it in the batch
    /// has verified.
    package var isUnverified = false
    /// The same request once more, of a verb that has no key.
    package var isRepeated = false
    package enum SessionTokenUse: Sendable { case remembered, overLimit }

    /// What became of a session token's first use.
    package var sessionToken: SessionTokenUse?

    package init(
        outcome: Outcome,
        environment: Environment? = nil,
        previousCounter: UInt32? = nil,
        duplicate: Kept? = nil
    ) {
        self.outcome = outcome
        self.environment = environment
        self.previousCounter = previousCounter
        self.duplicate = duplicate
    }

    package var isDuplicate: Bool { duplicate != nil || isRepeated }

    package var isAccepted: Bool {
        if case .accepted = outcome { return true }
        return false
    }
}

/// What is to be made for an accepted request of the exchange. The times are the first answer's, also for a duplicate.
package enum MintOrder: Sendable {
    case challenge(at: EvaluationTime)
    /// `now` is when the answer is written: its `ttl` is the life that is left then.
    case attestation(Artifact, TokenTimes, now: EvaluationTime)
    case assertion(TokenTimes, now: EvaluationTime)
    case verification(alreadyConsumed: Bool)
}
