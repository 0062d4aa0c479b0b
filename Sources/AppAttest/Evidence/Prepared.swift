package import Crypto

/// A verification whose signatures are still open. `checks` may be empty: the next step is then already known.
///
/// It may take more than one round: expensive parts are prepared only when the signatures before them hold.
package struct Prepared<Evidence: Sendable> {
    package enum Step {
        case concluded(Result<Evidence, Refusal>)
        case open(Prepared)
    }

    package let checks: [SignatureCheck]
    private let next: ([Bool]) -> Step

    package init(checks: [SignatureCheck], next: @escaping ([Bool]) -> Step) {
        self.checks = checks
        self.next = next
    }

    package init(checks: [SignatureCheck], conclusion: @escaping ([Bool]) -> Result<Evidence, Refusal>) {
        self.init(checks: checks, next: { .concluded(conclusion($0)) })
    }

    package init(refused refusal: Refusal) {
        self.init(checks: []) { _ in .failure(refusal) }
    }

    /// The next step, given one answer per check in order.
    package func advance(_ answers: [Bool]) -> Step {
        precondition(answers.count == checks.count, "one answer per check")
        return next(answers)
    }

    /// The verdict, given one answer per check in order.
    ///
    /// - Precondition: the answers decide it; an attestation with a receipt takes a second round.
    package func conclude(_ answers: [Bool]) -> Result<Evidence, Refusal> {
        guard case .concluded(let result) = advance(answers) else { preconditionFailure("another round is open") }
        return result
    }

    /// Verifies the open signatures with `engine`, round by round: the whole verification in one call.
    package func verified(by engine: any SignatureEngine) -> Result<Evidence, Refusal> {
        var prepared = self
        while true {
            switch prepared.advance(prepared.checks.isEmpty ? [] : engine.verify(prepared.checks)) {
            case .concluded(let result): return result
            case .open(let rest): prepared = rest
            }
        }
    }
}
