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
        /// Answered before and redelivered by at-least-once delivery: no output, no change of state.
        case applied
    }

    /// The ledger's record of a duplicate's key; the duplicate's object may be too old to verify.
    package struct LedgerFacts: Sendable {
        package let appleAppID: String
        package let counter: UInt32
    }

    package var outcome: Outcome
    /// The environment of the key in the ledger; nil = the ledger does not have the key.
    package var environment: Environment?
    /// The counter before an assertion; nil for a duplicate, which moves none.
    package var previousCounter: UInt32?
    /// Here, where the layout has room; 0 = there is no metric.
    private var riskValue: UInt16 = 0
    private var riskCreatedAt: UInt32 = 0
    package var duplicate: LedgerFacts?
    /// The answer to make for an accepted request of the exchange.
    package var order: MintOrder?
    /// The decision of the rollout, if the device's share was asked.
    package var rollout: RolloutDecision?
    /// The ledger had lost the key, and an artifact brought it back.
    package var isRestored = false
    /// The ledger has no usable key, so the assertion counts as not verified, even if another key in the batch has
    /// verified it.
    package var isUnverified = false
    /// A redelivered request of a verb that has no key.
    package var isRepeated = false
    /// The key's risk metric, while it counts; of a verifyReceipt the one before it.
    package var risk: RiskMetric? {
        get { riskCreatedAt == 0 ? nil : RiskMetric(riskValue, createdAt: riskCreatedAt) }
        set { (riskCreatedAt, riskValue) = (newValue?.createdAt ?? 0, newValue?.value ?? 0) }
    }
    package enum SessionTokenUse: Sendable { case remembered, overLimit }

    /// The outcome of a session token's first use.
    package var sessionToken: SessionTokenUse?

    package init(
        outcome: Outcome,
        environment: Environment? = nil,
        previousCounter: UInt32? = nil,
        duplicate: LedgerFacts? = nil
    ) {
        (self.outcome, self.environment) = (outcome, environment)
        (self.previousCounter, self.duplicate) = (previousCounter, duplicate)
    }

    /// The HTTP status of the answer; nil = there is no answer. The code alone: its texts would be copied.
    package var status: Int? {
        switch outcome {
        case .accepted: Status.ok.code
        case .refused(_, let status), .deferred(_, let status): status.code
        case .deadLetter, .applied: nil
        }
    }

    package var isDuplicate: Bool { duplicate != nil || isRepeated }

    package var isAccepted: Bool {
        if case .accepted = outcome { return true }
        return false
    }
}

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
