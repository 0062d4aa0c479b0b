package import Crypto

/// A verification whose signature is still open; none may be, and then the next step is already known.
///
/// It may take more than one round: expensive parts are prepared only when the signature before them holds.
package struct Prepared<Evidence: Sendable> {
    package enum Step {
        case concluded(Result<Evidence, Refusal>)
        case open(Prepared)
    }

    /// The step that follows the signature's answer. Most verifications need no closure, which would be an allocation
    /// each.
    private enum Sequel {
        case result(Result<Evidence, Refusal>)
        /// The result if the signature holds, and why the object is refused if not.
        case signed(Result<Evidence, Refusal>, otherwise: @Sendable (SignatureCheck) -> Refusal)
        case next((Bool) -> Step)
    }

    /// nil = the next step needs no signature.
    package let check: SignatureCheck?
    private let sequel: Sequel

    private init(check: SignatureCheck?, sequel: Sequel) { (self.check, self.sequel) = (check, sequel) }

    /// - Parameter next: given whether the signature is valid; true where there is none.
    package init(check: SignatureCheck?, next: @escaping (Bool) -> Step) {
        self.init(check: check, sequel: .next(next))
    }

    package init(check: SignatureCheck?, conclusion: @escaping (Bool) -> Result<Evidence, Refusal>) {
        self.init(check: check, next: { .concluded(conclusion($0)) })
    }

    /// - Parameters:
    ///   - content: the result if the signature holds.
    ///   - otherwise: why a signature is refused that does not hold; without captures.
    init(
        check: SignatureCheck,
        content: Result<Evidence, Refusal>,
        otherwise: @escaping @Sendable (SignatureCheck) -> Refusal
    ) {
        self.init(check: check, sequel: .signed(content, otherwise: otherwise))
    }

    package init(concluded result: Result<Evidence, Refusal>) { self.init(check: nil, sequel: .result(result)) }

    package init(refused refusal: Refusal) { self.init(concluded: .failure(refusal)) }

    /// The open signature as a list of one or none.
    package var checks: [SignatureCheck] { check.map { [$0] } ?? [] }

    /// The next step, given whether the signature is valid.
    @inline(__always)
    fileprivate consuming func next(isValid: Bool) -> Step {
        // A refusal alone reads the check, so that an acceptance moves what it brings.
        if !isValid, case .signed(_, let otherwise) = sequel, let check {
            return .concluded(.failure(otherwise(check)))
        }
        switch (consume self).sequel {
        case .result(let result), .signed(let result, _): return .concluded(result)
        case .next(let next): return next(isValid)
        }
    }

    package consuming func advance(isValid: Bool) -> Step { next(isValid: isValid) }

    /// The next step, given one answer per check.
    package func advance(_ answers: [Bool]) -> Step {
        precondition(answers.count == checks.count, "one answer per check")
        return advance(isValid: answers.first ?? true)
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
            switch prepared.advance(prepared.check.map { engine.verify([$0]) } ?? []) {
            case .concluded(let result): return result
            case .open(let rest): prepared = rest
            }
        }
    }
}

/// The most frequent kind: other modules call what is compiled for it, not the general code.
extension Prepared<AssertionEvidence> {
    package consuming func advance(isValid: Bool) -> Step { next(isValid: isValid) }
}
