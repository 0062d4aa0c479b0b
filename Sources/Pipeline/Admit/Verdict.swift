package import AppAttest
package import AppCheck

/// A record's verdict, after the state was asked.
package struct Verdict: Sendable {
    package enum Outcome: Sendable {
        case accepted
        case refused(Reason, Status)
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

    package var isDuplicate: Bool { duplicate != nil }

    /// Whether the key's record changes by this: once for every request that is accepted for the first time.
    package var movesState: Bool {
        guard case .accepted = outcome else { return false }
        return !isDuplicate
    }
}
